//! The layers of the library, read from its source: who may know whom, and where the dangerous and the
//! conditional parts stand, and what allocates.
//!
//! Longer than 400 lines because it is one table of what may stand where.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the names that the crate exports at its root.
const ROOT: [(&str, &str); 23] = [
    ("Compute", "compute"),
    ("Deferred", "compute"),
    ("Error", "error"),
    ("Result", "error"),
    ("StorageError", "error"),
    ("Shape", "shape"),
    ("Align", "shape"),
    ("Index", "shape"),
    ("AddressMap", "map"),
    ("Select", "map"),
    ("Reader", "storage"),
    ("Writer", "storage"),
    ("Stored", "storage"),
    ("StoredMut", "storage"),
    ("BoxReader", "storage"),
    ("Tensor", "tensor"),
    ("Lazy", "expr"),
    ("BoxExpr", "expr"),
    ("Expr", "expr"),
    ("Elementwise", "expr"),
    ("Pieces", "expr"),
    ("choose", "expr"),
    ("zip_with", "expr"),
];

/// Where memory is touched without checks.
const UNSAFE: [&str; 12] = [
    "dtype/same_bits.rs",
    "kernel/inner",
    "kernel/simd",
    "kernel/gemm",
    "kernel/evaluate.rs",
    "memory.rs",
    "storage/mapped",
    "interop/npy/map.rs",
    "interop/npz/map.rs",
    "interop/safetensors/map.rs",
    "interop/zarr/map.rs",
    "interop/dlpack",
];

/// Where a feature may decide what is in a table, a macro or an enum. Elsewhere it decides on whole
/// modules.
const CONDITIONAL: [&str; 11] = [
    "lib.rs",
    "dtype",
    "kernel/join.rs",
    "kernel/gemm",
    "expr/tables",
    "map/select.rs",
    "tensor/build.rs",
    "arbitrary",
    "ops/reduce/reducers/by_element.rs",
    "ops/reduce/reducers/sums.rs",
    "storage/chunked/ahead/spawn.rs",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder, with its path relative to it.
fn sources(folder: &str) -> BTreeMap<String, String> {
    fn visit(folder: &Path, base: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                visit(&path, base, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let name = path.strip_prefix(base).unwrap().to_string_lossy().into_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    let (base, mut found) = (root().join(folder), BTreeMap::new());
    visit(&base, &base, &mut found);
    found
}

/// The lines of a file that are code, without the comments at their ends, up to its unit tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| *line != "#[cfg(test)]")
        .map(|(number, line)| (number + 1, line.split("//").next().unwrap_or_default()))
}

/// The module of a file: the first part of its path.
fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap_or_default()
}

/// What a line names of the crate: the word after every `crate::`.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Words of a text in the marks of code.
fn marked(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_string)
}

/// What each module may import, by the table of DESIGN.md: names, or all of the rows above but some, and others.
fn layers() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("DESIGN.md")).unwrap();
    let (mut layers, mut above) = (BTreeMap::new(), BTreeSet::new());
    let table = text.lines().skip_while(|line| !line.starts_with("| module | may import"));
    for row in table.skip(2).take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').collect();
        let (named, others) = cells[2].split_once(';').unwrap_or((cells[2], ""));
        let mut allowed: BTreeSet<String> = marked(named).collect();
        if named.contains("all of the above") {
            allowed = &above - &allowed;
        }
        allowed.extend(marked(others));
        for module in marked(cells[1]) {
            layers.insert(module, allowed.clone());
        }
        above.extend(marked(cells[1]));
    }
    assert!(layers.len() > 15, "the table is not found");
    layers
}

#[test]
fn every_module_keeps_to_its_layer() {
    let (layers, mut broken) = (layers(), Vec::new());
    for (file, text) in sources("src").iter().filter(|(file, _)| *file != "lib.rs") {
        let own = module(file);
        let Some(allowed) = layers.get(own) else {
            broken.push(format!("{file}: there is no layer for `{own}`"));
            continue;
        };
        for (number, line) in code(text) {
            for name in named(line) {
                let target =
                    ROOT.iter().find(|(word, _)| *word == name).map_or(name, |found| found.1);
                if target.is_empty() {
                    broken.push(format!("{file}:{number}: imports several modules in one line"));
                } else if target != own && !allowed.contains(target) {
                    broken.push(format!("{file}:{number}: `{own}` must not know `{target}`"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The names that a file imports, as paths from the root of the crate. `own` is the module that it is.
fn imports(text: &str, own: &[String]) -> Vec<Vec<String>> {
    /// Adds all paths of a tree of names, such as `a::{b, c::d}`, behind those before.
    fn expand(tree: &str, before: &[String], found: &mut Vec<Vec<String>>) {
        let (names, group) = tree.split_once('{').map_or((tree, None), |(a, b)| (a, Some(b)));
        let names = names.split("::").map(|name| name.split(" as ").next().unwrap().trim());
        let names = names.filter(|name| !name.is_empty()).map(str::to_string);
        let path: Vec<String> = before.iter().cloned().chain(names).collect();
        let Some(group) = group else {
            found.push(path);
            return;
        };
        let (mut depth, mut start) = (0, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    let part = group[start..at].trim();
                    if !part.is_empty() {
                        expand(part, &path, found);
                    }
                    start = at + 1;
                }
                _ => {}
            }
        }
    }
    let lines: Vec<&str> = code(text).map(|(_, line)| line).collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        let is_doc = number > 0 && lines[number - 1].trim() == "#[cfg(doc)]";
        let start = line.find("use ").filter(|at| !is_doc && (*at == 0 || line.starts_with("pub")));
        if let Some(start) = start {
            let rest = [&line[start + 4..]].into_iter().chain(lines[number + 1..].iter().copied());
            let tree: String = rest.collect::<Vec<_>>().join(" ");
            expand(tree.split(';').next().unwrap(), &[], &mut found);
        }
    }
    for path in &mut found {
        let mut base = own.to_vec();
        while let Some(first) = path.first().cloned() {
            match first.as_str() {
                "crate" => base.clear(),
                "super" => drop(base.pop()),
                "self" => {}
                _ => break,
            }
            path.remove(0);
        }
        base.append(path);
        *path = base;
    }
    found
}

/// Files that import one another in a circle have to be read all at once. A module and those below it may, as the one
/// declares the others.
#[test]
fn files_do_not_import_one_another() {
    let files = sources("src");
    let module = |file: &str| -> Vec<String> {
        let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').filter(|name| *name != "lib").map(str::to_string).collect()
    };
    let by_module: BTreeMap<Vec<String>, &String> =
        files.keys().map(|file| (module(file), file)).collect();
    let mut edges: BTreeMap<&String, Vec<&String>> = BTreeMap::new();
    for (file, text) in &files {
        let own = module(file);
        for path in imports(text, &own) {
            let lengths = (1..=path.len()).rev();
            let target =
                lengths.map(|count| &path[..count]).find(|path| by_module.contains_key(*path));
            let Some(target) = target else { continue };
            if !own.starts_with(target) && !target.starts_with(&own) {
                edges.entry(file).or_default().push(by_module[target]);
            }
        }
    }
    assert!(edges.len() > 100, "files with imports: {}", edges.len());
    // A file that imports none of those that are left is part of no circle.
    while let Some(file) = edges.iter().find_map(|(file, targets)| {
        targets.iter().all(|target| !edges.contains_key(target)).then_some(*file)
    }) {
        edges.remove(file);
    }
    let left: Vec<&String> = edges.keys().copied().collect();
    edges.values_mut().for_each(|targets| targets.retain(|target| left.contains(target)));
    assert!(edges.is_empty(), "{edges:#?}");
}

/// `pub(crate) use crate::..` would smuggle a lower layer through a higher one, except where `expr` shows
/// the traits of kernels that its own types implement, and `storage` where blocks begin.
#[test]
fn layers_do_not_pass_others_on() {
    for (file, text) in sources("src").iter().filter(|(file, _)| *file != "lib.rs") {
        for (number, line) in code(text).filter(|(_, line)| line.trim_start().starts_with("pub")) {
            let passes = line.contains(" use crate::") && !line.contains("use crate::kernel::");
            let may = module(file) == "expr" || line == "pub use crate::grid::Starts;";
            assert!(!passes || may, "{file}:{number}: {line}");
        }
    }
}

#[test]
fn memory_is_touched_in_few_places() {
    let mut blocks_in_kernel = 0;
    for (file, text) in &sources("src") {
        let unsafe_lines: Vec<(usize, &str)> = code(text)
            .filter(|(_, line)| {
                let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.into_iter().any(|word| word == "unsafe")
            })
            .collect();
        let listed = UNSAFE.iter().any(|place| file.starts_with(place));
        assert!(listed || unsafe_lines.is_empty(), "{file}: {unsafe_lines:?}");
        if file == "kernel/evaluate.rs" {
            blocks_in_kernel = unsafe_lines.len();
        }
    }
    assert_eq!(blocks_in_kernel, 1, "kernel/evaluate.rs makes one unsafe call");
}

/// The lints that keep it so are in the manifest.
#[test]
fn the_manifest_denies_unsafe_code() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for lint in [
        "unsafe_code = \"deny\"",
        "unsafe_op_in_unsafe_fn = \"deny\"",
        "missing_docs = \"deny\"",
        "undocumented_unsafe_blocks = \"deny\"",
    ] {
        assert!(manifest.contains(lint), "{lint}");
    }
    // They are not in the package.
    for folder in ["examples", "benches", "benches/report"] {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml"));
        assert!(
            manifest.map_or(true, |text| text.contains("[lints]\nworkspace = true")),
            "{folder}"
        );
    }
}

/// A file that no module names is no test.
#[test]
fn every_file_of_tests_is_a_module() {
    let files = sources("tests/it");
    for file in
        files.keys().filter(|file| !["formats.rs", "laws.rs", "main.rs"].contains(&file.as_str()))
    {
        let path = Path::new(file.strip_suffix("/mod.rs").unwrap_or(file)).with_extension("");
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let parent =
            folder.map_or("main.rs".into(), |folder| format!("{}/mod.rs", folder.display()));
        let line = format!("mod {};", path.file_name().unwrap_or_default().display());
        let named = files.get(&parent).is_some_and(|text| text.lines().any(|found| found == line));
        assert!(named, "{parent} does not say `{line}`");
    }
}

#[test]
fn features_decide_on_whole_modules() {
    for (file, text) in &sources("src") {
        if CONDITIONAL.iter().any(|place| file.starts_with(place)) {
            continue;
        }
        let lines: Vec<(usize, &str)> = code(text).collect();
        for (k, (number, line)) in lines.iter().enumerate() {
            if line.contains("feature =") && line.contains("cfg") {
                let next = lines[k + 1..].iter().map(|(_, line)| line.trim());
                let item = next.clone().find(|line| !line.starts_with("#[")).unwrap_or_default();
                let whole =
                    ["mod ", "pub mod ", "pub(crate) mod ", "use ", "pub use ", "pub(crate) use "];
                let decides = whole.iter().any(|start| item.starts_with(start));
                assert!(decides && line.trim().starts_with("#[cfg("), "{file}:{number}: {item}");
            }
        }
    }
}

/// A file of more than 400 lines says why in its header.
#[test]
fn files_are_short_or_say_why_not() {
    let mut long = Vec::new();
    for folder in ["src", "tests", "benches", "examples"] {
        for (file, text) in &sources(folder) {
            let header: Vec<&str> =
                text.lines().take_while(|line| line.starts_with("//!")).collect();
            let count = text.lines().count();
            if count > 400 && !header.join(" ").contains("onger than 400 lines because") {
                long.push(format!("{folder}/{file}: {count} lines"));
            }
        }
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

/// Nothing a caller can reach unwraps: no `unwrap`, `expect`, `todo` or `unimplemented` outside tests and
/// examples, and `panic` only where its documentation says so.
#[test]
fn the_library_does_not_unwrap() {
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    for (file, text) in sources("src").iter().filter(|(file, _)| !is_test(file)) {
        for (number, line) in code(text) {
            for word in [".unwrap()", ".expect(\"", "todo!(", "unimplemented!(", "unreachable!("] {
                assert!(!line.contains(word), "{file}:{number}: {line}");
            }
            if line.contains("panic!(") {
                let before: Vec<&str> = text.lines().take(number).collect();
                let doc = before.iter().rev().take(25).any(|line| line.contains("# Panics"));
                assert!(doc, "{file}:{number}: a panic that is not documented");
            }
        }
    }
}

/// Notes to oneself carry the number of an issue or are not left behind.
#[test]
fn nothing_is_left_to_do() {
    for folder in ["src", "tests", "benches", "examples"] {
        for (file, text) in sources(folder).iter().filter(|(file, _)| *file != "layering.rs") {
            for (number, line) in text.lines().enumerate() {
                let note = ["TODO", "FIXME", "XXX", "cfg(any())"]
                    .iter()
                    .find(|word| line.contains(**word));
                assert!(note.is_none(), "{folder}/{file}:{}: {line}", number + 1);
            }
        }
    }
}

/// What allocates and aborts if there is no memory.
const ABORTS: [&str; 20] = [
    "vec![",
    ".to_vec()",
    ".collect()",
    ".collect::<",
    "with_capacity(",
    ".into_owned()",
    ".to_owned()",
    ".concat()",
    ".into_boxed_slice()",
    ".shrink_to_fit()",
    "HashMap::",
    "BTreeMap::",
    "HashSet::",
    ".sort()",
    ".sort_by(",
    ".sort_by_key(",
    "Arc::from(",
    "Box::from(",
    ".reserve(",
    ".resize_with(",
];

/// Whose length is that of a shape, or the number of operands: what such names stand beside is no data.
const FEW: [&str; 26] = [
    "Index",
    "PerOperand",
    "Shape",
    "SmallVec",
    "axes",
    "axis",
    "component",
    "components",
    "expected",
    "extents",
    "index",
    "leaves",
    "levels",
    "lines",
    "lists",
    "loops",
    "maps",
    "operand",
    "operands",
    "patterns",
    "rank",
    "shape",
    "shares",
    "smallvec",
    "stages",
    "strides",
];

/// What allocates all the same, and why it may: file, what stands there, reason.
const ALLOCATES: [(&str, &str, &str); 75] = [
    ("cost", "", "counts, for tests"),
    ("error.rs", "Arc::from(source", "an error of somebody's storage"),
    ("error/gufunc.rs", "Arc::from(error", "an error of somebody's function"),
    ("gufunc/", "names", "at most 4096 bytes of a signature"),
    ("expr/arrays.rs", "map(count).collect()", "operands"),
    ("expr/node.rs", "next.collect()", "at most 64 boxes"),
    ("expr/boxes.rs", "ranges.iter()", "axes"),
    ("expr/eval/one_tile/tables.rs", "", "operands, and tables for one tile"),
    ("expr/boxes.rs", "vec![", "axes, and a number for each of large boxes"),
    ("expr/update.rs", "next.collect()", "at most 64 boxes"),
    ("gufunc/arguments.rs", "named", "a text"),
    ("expr/sparse/tasks.rs", "ends", "operands, for each of a few tasks"),
    ("gufunc/rows.rs", "", "core axes"),
    ("ragged/build.rs", "rest.iter()", "axes"),
    ("ragged/build.rs", "N::DEPTH", "levels of nested lists"),
    ("ragged/build.rs", "vec![0]", "a first number"),
    ("ragged/cores", "", "axes, and operands"),
    ("ragged/fmt.rs", "", "what is printed"),
    ("ragged/form.rs", "", "axes"),
    ("ragged/groups.rs", "", "axes, and a first number"),
    ("ragged/join.rs", "", "tensors to be joined, and their axes"),
    ("ragged/folding.rs", "kept.collect()", "axes"),
    ("ragged/viewed.rs", "flat.to_vec()", "reports what it cannot have"),
    ("error/files.rs", "found.iter()", "at most 8 names"),
    ("interop/named.rs", "names.take(TOLD)", "at most 8 names"),
    ("interop/npz/sparse.rs", "letters", "at most 1024 bytes"),
    ("interop/npz/sparse.rs", "padded", "a header of 128 bytes"),
    ("interop/safetensors/write.rs", "", "a header of at most 100 MB, of names that there are"),
    ("interop/zarr", "", "metadata of at most 16 MiB"),
    ("interop/mtx/header.rs", "line.into_owned()", "a line of at most 4096 bytes"),
    ("interop/npy/header.rs", "MAGIC", "a header of at most 64 KiB"),
    ("interop/npy/parse.rs", "from_utf8_lossy", "part of a header of at most 64 KiB"),
    ("interop/roaring.rs", "position as u64", "the inside of roaring"),
    ("interop/text.rs", "found[..", "at most 64 bytes"),
    ("kernel/evaluate.rs", "tables.iter()", "operands"),
    ("kernel/plan/footprint.rs", "order.sort_by_key", "axes"),
    ("kernel/plan/grid.rs", "digits", "axes"),
    ("kernel/plan/grid.rs", "self.low", "axes"),
    ("kernel/plan/gather.rs", "abs_diff", "a table for one tile"),
    ("kernel/plan/nest.rs", "nearest()", "axes"),
    ("kernel/store.rs", "vec![local.nest]", "one"),
    ("kernel/walk.rs", "collect()", "operands"),
    ("map/check.rs", "images", "at most 8192 addresses and indexes, to check a law"),
    ("map/check.rs", "global.to_vec()", "axes"),
    ("map/facts.rs", "vec![0_i128]", "axes"),
    ("map/inverse/boxes.rs", "reach", "axes"),
    ("map/inverse/boxes.rs", "collect()", "at most 1024 boxes"),
    ("map/inverse/mod.rs", "vec![address]", "one, and at most 1024 later"),
    ("map/inverse/search.rs", "vec![after]", "axes"),
    ("map/select.rs", "list.to_vec()", "a conversion from a slice, which copies as `Clone` does"),
    ("map/select.rs", "u64::from", "the inside of roaring"),
    ("ops/lanes/driver.rs", "there is nothing", "a text"),
    ("ops/cores/tuples.rs", "resize_with(N", "operands"),
    ("ops/linalg/einsum/plan.rs", "collect", "axes"),
    ("ops/contraction.rs", "", "axes"),
    ("ops/reduce/along.rs", "collect()", "results that are fewer than four to a thread"),
    ("ops/reduce/fold.rs", "there are no", "a text"),
    ("ops/reduce/reducers/taken.rs", "vec![first", "16 columns of at most 255 elements, or 32 KiB"),
    ("ops/reduce/reducers/moments.rs", "rows[0]", "at most 4096 columns"),
    ("ops/reduce/reducers/moments.rs", "width", "at most 4096 columns"),
    ("ops/segments/mod.rs", "Select::List(order)", "axes"),
    ("ops/reduce/sparse/cells.rs", "groups.iter()", "axes"),
    ("ops/scan/slice.rs", "vec![range.start + k]", "an index of one number"),
    ("shape.rs", "", "axes"),
    ("tensor/build.rs", "inner", "axes"),
    ("tensor/combine.rs", "tensors", "operands"),
    ("tensor/pad.rs", "widths", "axes"),
    ("tensor/fmt.rs", "", "formatting"),
    ("gufunc/outputs.rs", "Deferred::new(self).to_vec()", "reports what it cannot have"),
    ("ragged/elements.rs", "into_items()?.to_vec()", "reports what it cannot have"),
    ("ragged/results.rs", "result.to_vec()", "reports what it cannot have"),
    ("storage/chunked/shard.rs", "HashMap", "nothing; entries are reserved"),
    ("storage/chunked/cache.rs", "take(count)", "at most 16 shards"),
    ("storage/conformance", "", "laws, for tests"),
    ("arbitrary", "", "random values, for tests"),
];

/// Memory whose size follows from data comes from `memory`, which reports what cannot be had.
#[test]
fn what_grows_with_data_is_asked_for() {
    let mut unused: Vec<_> = ALLOCATES.iter().collect();
    let mut found = Vec::new();
    let is_test = |file: &str| file.ends_with("/tests.rs") || file.contains("/tests/");
    for (file, text) in sources("src").iter().filter(|(file, _)| !is_test(file)) {
        let mut statement = String::new();
        for (number, line) in code(text) {
            statement.push_str(line);
            // Tensors have a fallible method of this name.
            let rest = line.replace(".to_vec()?", "").replace("try_with_capacity(", "");
            if ABORTS.iter().any(|word| rest.contains(word)) {
                let except = |(place, what, _): &(&str, &str, &str)| {
                    file.starts_with(place) && statement.contains(what)
                };
                let excepted = ALLOCATES.iter().any(except);
                unused.retain(|exception| !except(exception));
                let mut words = statement.split(|c: char| !c.is_alphanumeric() && c != '_');
                if !excepted && !words.any(|word| FEW.contains(&word)) {
                    found.push(format!("{file}:{number}: {}", line.trim()));
                }
            }
            if line.trim().is_empty() || line.ends_with([';', '{', '}']) {
                statement.clear();
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(unused.is_empty(), "exceptions of what there is no more: {unused:?}");
}
