use super::*;
use crate::case::{AddressMode, Comparison, Filter, Image, Sampler, View};

/// A case with something of everything.
fn case() -> Case {
    let image =
        Image { view: View::TwoArray, format: "rgba8".into(), extent: [2, 2, 1], layers: 1, levels: 1 };
    let sampler = Sampler {
        filter: Filter::Linear,
        mipmap: Filter::Nearest,
        address: AddressMode::OpaqueBlack,
        compare: Some(Comparison::LessOrEqual),
        unnormalized: false,
    };
    let kinds = [
        (Kind::StorageBuffer, 8),
        (Kind::UniformBuffer, 5),
        (Kind::StorageTexelBuffer { format: "r32ui".into() }, 4),
        (Kind::UniformTexelBuffer { format: "r8".into() }, 1),
        (Kind::StorageImage { image: image.clone() }, 16),
        (Kind::SampledImage { image: image.clone() }, 16),
        (Kind::CombinedImageSampler { image, sampler }, 16),
        (Kind::Sampler { sampler }, 0),
        (Kind::SameAs { resource: 0 }, 0),
        (Kind::Buffer, 12),
    ];
    let resource = |(index, (kind, size)): (usize, (Kind, usize))| Resource {
        name: format!("0.{index}"),
        slot: (kind != Kind::Buffer).then_some(Slot { set: 0, binding: index as u32, element: 0 }),
        kind,
        bytes: (0..size).map(|byte| (byte + index) as u8).collect(),
    };
    Case {
        words: vec![0x0723_0203, 1, 2],
        entry: "main".into(),
        workgroups: [2, 1, 1],
        local_size: [64, 1, 1],
        subgroup_size: Some(8),
        specialisation: vec![SpecialisationValue { id: 3, bytes: vec![1, 0, 0, 0] }],
        push: vec![1, 2, 3, 4],
        resources: kinds.into_iter().enumerate().map(resource).collect(),
        addresses: vec![Address { within: None, offset: 0, target: 9, byte: 4 }],
        unwanted: Vec::new(),
        robustness: Robustness::Robust,
        times: 7,
        time: Duration::from_millis(1500),
    }
}

fn observation(count: u32, value: u8) -> Observation {
    let resources = case().resources;
    let memory = resources.iter().map(|one| one.is_writable().then(|| vec![value; one.bytes.len()]));
    Observation { count, memory: memory.collect(), addresses: vec![None; resources.len()] }
}

#[test]
fn what_nobody_wants_to_know_may_be_left_out() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let all: Vec<usize> = (0..case().resources.len()).collect();
    let wanted = Case { unwanted: all[1..].to_vec(), ..case() };
    write_case(folder.path(), &wanted)?;
    assert_eq!(read_request(folder.path())?, Request::Run(Box::new(wanted.clone())));
    // Two that differ in nothing else are one; what is told all the same is not looked at.
    let mut both = [observation(2, 7), observation(1, 7)];
    both[1].memory.iter_mut().skip(1).for_each(|bytes| *bytes = None);
    write_execution(folder.path(), &Execution::Finished(both.to_vec()))?;
    let Execution::Finished(read) = read_execution(folder.path(), &wanted) else { panic!("no result") };
    assert_eq!(read.iter().map(|one| one.count).collect::<Vec<_>>(), [3]);
    assert!(matches!(read_execution(folder.path(), &case()), Execution::Invalid(_)));
    Ok(())
}

#[test]
fn cases_and_answers_are_read_as_they_were_written() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    write_case(folder.path(), &case())?;
    assert_eq!(read_request(folder.path())?, Request::Run(Box::new(case())));
    let executions = [
        Execution::Finished(vec![observation(2, 1), observation(5, 2)]),
        Execution::Unsupported(vec!["Float64".into()]),
        Execution::TimedOut(case().time),
        Execution::Crashed("a".into()),
        Execution::DeviceLost("b".into()),
        Execution::OutOfMemory("c".into()),
        Execution::Failed("d".into()),
    ];
    for execution in executions {
        write_execution(folder.path(), &execution)?;
        assert_eq!(read_execution(folder.path(), &case()), execution);
    }
    write_describe(folder.path())?;
    assert_eq!(read_request(folder.path())?, Request::Describe);
    let description =
        Description { name: "x".into(), limits: vec![("y".into(), 3)], ..Description::default() };
    write_description(folder.path(), &Ok(description.clone()))?;
    assert_eq!(read_description(folder.path()), Ok(description));
    Ok(())
}

/// What the answer is said to be wrong in.
fn why(change: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<String> {
    let folder = tempfile::tempdir()?;
    write_execution(folder.path(), &Execution::Finished(vec![observation(2, 1), observation(5, 2)]))?;
    change(folder.path())?;
    match read_execution(folder.path(), &case()) {
        Execution::Invalid(why) => Ok(why),
        other => Ok(format!("valid: {other:?}")),
    }
}

/// What is wrong if this text stands in another one's place in the answer.
fn edited(from: &str, to: &str) -> io::Result<String> {
    why(|folder| {
        let text = fs::read_to_string(folder.join(ANSWER))?;
        assert!(text.contains(from), "{text}");
        fs::write(folder.join(ANSWER), text.replacen(from, to, 1))
    })
}

#[test]
fn answers_that_are_none_are_told() -> io::Result<()> {
    let first = "0.0.bin";
    let cases = [
        (edited("{", "[")?, "answer.json: "),
        (edited("executor/1", "executor/2")?, "the protocol is 'spirv-tv.executor/2'"),
        (edited("finished", "unheard-of")?, "unknown variant"),
        (edited("\"count\":2", "\"count\":0")?, "5 runs are told where 1 to 7 were wanted"),
        (edited("\"count\":2", "\"count\":4294967295")?, "runs are told"),
        (edited("\"count\":2", "\"count\":-1")?, "invalid value"),
        (edited("\"count\":2,\"memory\":[", "\"count\":2,\"memory\":[null,")?, "contents of 11 resources"),
        (edited("\"0.0.bin\"", "null")?, "there are no contents of 0.0"),
        (edited(first, "../0.0.bin")?, "'../0.0.bin' is not the name of a file"),
        (edited(first, "/etc/passwd")?, "is not the name of a file"),
        (edited(first, "..")?, "is not the name of a file"),
        (edited(first, "")?, "is not the name of a file"),
        (edited(first, "nothing.bin")?, "nothing.bin: "),
        (why(|folder| fs::remove_file(folder.join(ANSWER)))?, "answer.json: "),
        (why(|folder| fs::write(folder.join(first), [0; 9]))?, "0.0.bin has 9 bytes and not 8"),
        (
            why(|folder| File::create(folder.join(ANSWER))?.set_len(1 << 40))?,
            "answer.json has 1099511627776 bytes",
        ),
        (
            why(|folder| File::create(folder.join(first))?.set_len(1 << 40))?,
            "0.0.bin has 1099511627776 bytes",
        ),
        (why(|folder| fs::remove_dir_all(folder))?, "answer.json: "),
        (
            why(|folder| {
                (0..10).try_for_each(|index| match folder.join(format!("{index}.0.bin")) {
                    file if file.is_file() => fs::copy(file, folder.join(format!("{index}.1.bin"))).map(drop),
                    _ => Ok(()),
                })
            })?,
            "two results are the same",
        ),
    ];
    for (why, expected) in cases {
        assert!(why.contains(expected), "{expected}: {why}");
    }
    Ok(())
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_no_answers() -> io::Result<()> {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir()?;
    let other = outside.path().join("other");
    fs::write(&other, [1; 8])?;
    let linked = why(|folder| {
        fs::remove_file(folder.join("0.0.bin"))?;
        symlink(&other, folder.join("0.0.bin"))
    })?;
    assert!(linked.starts_with("0.0.bin: "), "{linked}");
    let pipe = why(|folder| {
        fs::remove_file(folder.join(ANSWER))?;
        let made = std::process::Command::new("mkfifo").arg(folder.join(ANSWER)).status()?;
        assert!(made.success());
        Ok(())
    })?;
    assert!(pipe.contains("no plain file"), "{pipe}");
    let directory = why(|folder| {
        fs::remove_file(folder.join(ANSWER))?;
        fs::create_dir(folder.join(ANSWER))
    })?;
    assert!(directory.contains("no plain file"), "{directory}");
    Ok(())
}
