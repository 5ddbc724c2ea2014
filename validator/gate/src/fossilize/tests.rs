use std::io::Cursor;

use super::writing::{append, empty, module, pipeline};
use super::*;

/// Words whose varints have one to five bytes.
const WORDS: [u32; 7] = [0x0723_0203, 0x0001_0600, 0x7f, 0x80, 0x3fff, 0x0fff_ffff, u32::MAX];

fn database(entries: &[((u128, u64), Vec<u8>)]) -> Vec<u8> {
    let mut bytes = empty();
    for (at, (name, payload)) in entries.iter().enumerate() {
        append(&mut bytes, *name, payload, at % 2 == 1).unwrap();
    }
    bytes
}

fn read(bytes: &[u8]) -> Database {
    Database::read(Cursor::new(bytes)).unwrap()
}

fn names(database: &Database) -> Vec<String> {
    database.cases().into_iter().map(|case| case.name).collect()
}

/// The one remark.
fn remark(bytes: &[u8]) -> String {
    let database = read(bytes);
    let [remark] = database.remarks() else { panic!("{:?}", database.remarks()) };
    remark.clone()
}

#[test]
fn each_use_of_a_module_is_a_case_once() {
    let bytes = database(&[
        // A pipeline may come before its module, and several may use it in one way.
        pipeline(0x20, 0xa, "main", &[(3, 7), (1, 5)]),
        pipeline(0x1f, 0xa, "main", &[(1, 5), (3, 7)]),
        pipeline(0x21, 0xa, "main", &[(1, 6)]),
        pipeline(0x22, 0xa, "main", &[]),
        module(0xa, &WORDS),
        module(0xb, &WORDS[..2]),
        pipeline(0x23, 0xa, "other", &[]),
        ((1, 5), b"a sampler is not read".to_vec()),
    ]);
    let database = read(&bytes);
    assert_eq!(database.remarks(), &[] as &[String]);
    assert_eq!(
        names(&database),
        [
            "4.000000000000000a.main",
            "4.000000000000000a.main.7.000000000000001f",
            "4.000000000000000a.main.7.0000000000000021",
            "4.000000000000000a.other",
            "4.000000000000000b",
        ]
    );
    let cases = database.cases();
    assert_eq!(*cases[0].words, WORDS);
    assert_eq!(cases[1].entry.as_deref(), Some("main"));
    assert_eq!(cases[1].stage, Some(Stage::COMPUTE));
    assert_eq!(cases[1].specialisation, [(1, vec![5, 0, 0, 0]), (3, vec![7, 0, 0, 0])]);
    assert_eq!((cases[4].entry.as_deref(), cases[4].words.len()), (None, 2));
}

#[test]
fn graphics_and_ray_tracing_pipelines_have_several_stages() {
    let stages = |key: &str| {
        let json = format!(
            r#"{{"version":6,"{key}":{{"00000000000000ff":{{"flags":0,"stages":[
            {{"flags":0,"name":"main","module":"000000000000000a","stage":1}},
            {{"flags":0,"name":"main","module":"000000000000000a","stage":16}},
            {{"flags":0,"name":"main","module":"000000000000000b","stage":2048}}]}}}}}}"#
        );
        json.into_bytes()
    };
    for (tag, key) in [(6, "graphicsPipelines"), (9, "raytracingPipelines")] {
        let bytes = database(&[module(0xa, &WORDS), module(0xb, &WORDS), ((tag, 0xff), stages(key))]);
        let database = read(&bytes);
        assert_eq!(database.remarks(), &[] as &[String]);
        let cases: Vec<(String, String)> = database
            .cases()
            .into_iter()
            .map(|case| (case.name, case.stage.map(|stage| stage.to_string()).unwrap_or_default()))
            .collect();
        let expected = [
            ("4.000000000000000a.main", "vertex"),
            ("4.000000000000000a.main.2", "fragment"),
            ("4.000000000000000b.main", "miss"),
        ];
        assert_eq!(cases, expected.map(|(name, stage)| (name.to_owned(), stage.to_owned())));
    }
}

#[test]
fn code_in_base64_and_the_older_version_are_read() {
    let json = br#"{"version":5,"shaderModules":{"0b":{"flags":0,"codeSize":8,"code":"AwIjBwAAAQA="}}}"#;
    let mut bytes = database(&[((4, 0xb), json.to_vec())]);
    bytes[15] = 5;
    let database = read(&bytes);
    assert_eq!(database.remarks(), &[] as &[String]);
    assert_eq!(*database.cases()[0].words, [0x0723_0203, 0x0001_0000]);
}

#[test]
fn a_database_that_ends_early_keeps_what_is_whole() {
    let one = database(&[module(0xa, &WORDS)]);
    let two = database(&[module(0xa, &WORDS), module(0xb, &WORDS)]);
    for length in one.len() + 1..two.len() {
        let database = read(&two[..length]);
        assert_eq!(names(&database), ["4.000000000000000a"]);
        let [remark] = database.remarks() else { panic!("{:?}", database.remarks()) };
        let expected = format!("the last entry, at byte {}, is cut off and left out", one.len());
        assert_eq!(*remark, expected);
    }
}

#[test]
fn what_is_no_database_is_an_error() {
    let error = |bytes: &[u8]| Database::read(Cursor::new(bytes)).unwrap_err().to_string();
    assert_eq!(error(b""), "it is no Fossilize database");
    assert_eq!(error(&empty()[..15]), "it is no Fossilize database");
    assert_eq!(error(&[7; 100]), "it is no Fossilize database");
    let mut newer = empty();
    newer[15] = 7;
    assert!(error(&newer).contains("of version 7"));
    let missing = Database::open(Path::new("/nowhere/x.foz"));
    assert!(matches!(missing, Err(FossilizeError::Read(_))));
    assert_eq!(remark(&empty()), "the database has no shader modules");
}

#[test]
fn damage_is_said_and_costs_only_its_entry() {
    let whole = module(0xa, &WORDS);
    let last = module(0xb, &WORDS);
    let mut bytes = database(&[whole.clone(), last.clone()]);
    let payload = 16 + 56;
    bytes[payload] ^= 1;
    assert_eq!(
        remark(&bytes),
        "entry 4.000000000000000a at byte 16 is left out: it is damaged: its CRC-32 is another one"
    );
    assert_eq!(names(&read(&bytes)), ["4.000000000000000b"]);
    // Without a checksum it is the JSON that is not understood.
    bytes[payload - 8..payload - 4].fill(0);
    assert!(remark(&bytes).contains("its JSON is not understood"));

    let mut bytes = database(&[whole.clone(), last]);
    bytes[payload - 12] = 9;
    assert!(remark(&bytes).ends_with("its payload has the unknown format 9"));

    let mut bytes = database(&[pipeline(1, 0xa, "main", &[]), whole]);
    let deflated = bytes.len() - 1;
    // The second one is deflated: its size, then its stream.
    let header = bytes.windows(24).rposition(|name| name == b"000000000000000000000004").unwrap();
    let size = header + 40 + 12;
    bytes[size] ^= 1;
    assert!(read(&bytes).remarks()[0].contains("its payload does not have"));
    bytes[size] ^= 1;
    bytes[deflated] ^= 1;
    bytes[size - 4..size].fill(0);
    assert!(
        read(&bytes).remarks()[0].contains("is left out: it is damaged: "),
        "{:?}",
        read(&bytes).remarks()
    );
    assert_eq!(
        read(&bytes).remarks()[1..],
        [
            "pipeline 0000000000000001 uses shader module 000000000000000a, which is not there",
            "the database has no shader modules"
        ]
    );
}

#[test]
fn what_cannot_be_understood_is_said_by_name() {
    let of = |(name, payload): ((u128, u64), Vec<u8>), from: &str, to: &str| {
        let end = payload.iter().position(|byte| *byte == 0).unwrap_or(payload.len());
        let text = std::str::from_utf8(&payload[..end]).unwrap();
        assert!(text.contains(from), "{text}");
        (name, [text.replace(from, to).as_bytes(), &payload[end..]].concat())
    };
    let modules = [
        ("\"varintOffset\":0", "\"varintOffset\":1", "its code is not in the payload"),
        ("\"varintOffset\":0", "\"varintOffset\":18446744073709551615", "its code is not in the payload"),
        ("\"codeSize\":28", "\"codeSize\":24", "it should have 24 bytes of code and has 28"),
        ("\"varintSize\":21", "\"varintSize\":20", "its code ends within a word"),
        ("\"varint", "\"other", "it has no code"),
        ("\"codeSize\"", "\"other\"", "its JSON is not understood: missing field `codeSize`"),
        ("\"version\":6", "\"version\":4", "its JSON has the unknown version 4"),
        ("\"000000000000000b\"", "\"x\"", "\"x\" is no hash"),
    ];
    for (from, to, why) in modules {
        let bytes = database(&[module(0xa, &WORDS), of(module(0xb, &WORDS), from, to)]);
        assert!(remark(&bytes).ends_with(&format!("is left out: {why}")), "{}", remark(&bytes));
        assert_eq!(names(&read(&bytes)), ["4.000000000000000a"]);
    }
    let pipelines = [
        ("\"dataSize\":4", "\"dataSize\":5", "its specialisation has less data than it says"),
        ("\"offset\":0", "\"offset\":1", "specialisation constant 3 is not in its data"),
        ("\"offset\":0", "\"offset\":18446744073709551615", "specialisation constant 3 is not in its data"),
        ("\"BwAAAA==\"", "\"?\"", "its Base64 is not understood: Invalid symbol 63, offset 0."),
        ("\"name\"", "\"other\"", "its JSON is not understood: missing field `name`"),
    ];
    for (from, to, why) in pipelines {
        let bytes = database(&[module(0xa, &WORDS), of(pipeline(1, 0xa, "main", &[(3, 7)]), from, to)]);
        let expected = format!("a stage of pipeline 0000000000000001 is left out: {why}");
        assert_eq!(remark(&bytes), expected);
        // The module is still a case, without an entry point.
        assert_eq!(names(&read(&bytes)), ["4.000000000000000a"]);
    }
    let bytes = database(&[module(0xa, &WORDS), ((0x77, 1), Vec::new()), ((11, 1), Vec::new())]);
    assert_eq!(remark(&bytes), "entries with unknown tags are left out: 2");
    let mut bytes = database(&[module(0xa, &WORDS), module(0xb, &WORDS)]);
    let second = database(&[module(0xa, &WORDS)]).len();
    bytes[second + 3] = b'+';
    assert_eq!(
        remark(&bytes),
        format!("what is at byte {second} is no entry: it and all that follows is left out")
    );
}

#[test]
fn a_word_of_more_than_32_bits_is_none() {
    let json = |size: usize| {
        format!(
            r#"{{"version":6,"shaderModules":{{"0b":{{"codeSize":4,"varintOffset":0,"varintSize":{size}}}}}}}"#
        )
    };
    for code in [&[0xff, 0xff, 0xff, 0xff, 0x1f][..], &[0x80, 0x80, 0x80, 0x80, 0x80, 0][..]] {
        let payload = [json(code.len()).as_bytes(), &[0], code].concat();
        let remarks = read(&database(&[((4, 0xb), payload)])).remarks().to_vec();
        assert_eq!(remarks[0], "shader module 000000000000000b is left out: its code has what is no word");
    }
}

#[test]
fn a_changed_byte_never_panics_and_costs_nothing_without_a_remark() {
    let entries = [module(0xa, &WORDS), pipeline(1, 0xa, "main", &[(3, 7)]), module(0xb, &WORDS)];
    let bytes = database(&entries);
    let starts: Vec<usize> = (0..entries.len()).map(|count| database(&entries[..count]).len()).collect();
    for at in 0..bytes.len() {
        // No checksum covers tags: another known one makes a shader what is not read.
        let is_tag = starts.iter().any(|start| (*start..start + 24).contains(&at));
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            if let Ok(database) = Database::read(Cursor::new(&changed)) {
                let whole = database.cases() == read(&bytes).cases();
                assert!(whole || is_tag || !database.remarks().is_empty(), "byte {at} ^ {change:#x}");
            }
        }
    }
}
