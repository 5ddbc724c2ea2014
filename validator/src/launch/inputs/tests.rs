use super::super::kept::{Kept, LeftOut};
use super::*;
use crate::launch::build::tests::{buffer, launch, program, slot};

fn untried(_: &Dispatch, _: &[u32]) -> Option<Touched> {
    Some(Touched::default())
}

fn made(program: &Program, launch: &Launch, count: u32, seed: u64) -> Vec<Input> {
    inputs(program, None, launch, count, seed, &mut untried).unwrap_or_default()
}

fn words(input: &Input, binding: u32) -> Vec<u32> {
    let bytes = &input.buffers[&slot(binding)];
    let known = |byte: &Byte| if let Byte::Known(byte) = byte { *byte } else { 0xee };
    bytes.chunks(4).map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u32::from(known(byte)))).collect()
}

#[test]
fn zeros_then_distinct_then_every_value_in_turn() {
    let mut program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]);
    program.harvested = vec![77];
    let made = made(&program, &launch(1, 2, 2), 8, 0);
    let names: Vec<&str> = made.iter().map(|input| input.name.as_str()).collect();
    let expected = ["zeros", "distinct", "boundary 1", "boundary 2", "boundary 3", "boundary 4"];
    assert_eq!(names[..6], expected);
    assert_eq!(names[6..], ["boundary 5", "random 7"]);
    assert_eq!(words(&made[0], 0), [0, 0]);
    assert_eq!((words(&made[1], 0), words(&made[1], 1)), (vec![1, 2], vec![257, 258]));
    let first: Vec<u32> = made[2..7].iter().map(|input| words(input, 0)[0]).collect();
    assert_eq!(first, [0x7fff_ffff, u32::MAX, 0x8000_0000, 0x3f80_0000, 77]);
    assert_eq!(words(&made[2], 0)[1], u32::MAX);
}

#[test]
fn parameters_stay_small_in_many_inputs() {
    let mut uniform = buffer(1, 0, 0);
    uniform.constant = true;
    let program = program(vec![uniform, buffer(2, 0, 1)]);
    let made = made(&program, &launch(1, 2, 2), 6, 0);
    assert_eq!((words(&made[1], 0), words(&made[1], 1)), (vec![1, 2], vec![1, 2]));
    assert!(words(&made[2], 0)[0] > 8 && words(&made[2], 1)[0] > 8);
    assert!(words(&made[3], 0)[0] < 8 && words(&made[3], 1)[0] > 8);
}

#[test]
fn the_seed_decides() {
    let program = program(vec![buffer(1, 0, 0)]);
    let launch = launch(1, 2, 2);
    assert_eq!(made(&program, &launch, 10, 5), made(&program, &launch, 10, 5));
    assert_ne!(made(&program, &launch, 10, 5), made(&program, &launch, 10, 6));
}

#[test]
fn one_input_where_all_is_given() {
    let program = program(vec![buffer(1, 0, 0)]);
    let mut launch = launch(1, 2, 2);
    launch.buffers.insert(slot(0), vec![Byte::Known(9); 8]);
    let made = made(&program, &launch, 5, 0);
    assert_eq!(made.iter().map(|input| input.name.as_str()).collect::<Vec<_>>(), ["given"]);
    assert_eq!(words(&made[0], 0), [0x0909_0909; 2]);
}

#[test]
fn equal_inputs_are_made_once() {
    // Nothing to fill: whatever the kind, the contents are the same.
    assert_eq!(made(&program(vec![]), &launch(1, 1, 1), 3, 0).len(), 1);
}

#[test]
fn runtime_arrays_get_what_a_trial_touches() {
    let mut variable = buffer(1, 0, 0);
    variable.size = 4;
    variable.runtime_stride = Some(8);
    let program = program(vec![variable]);
    // Touches up to byte 4 + 8 * 9 + 4.
    let mut trial = |_: &Dispatch, _: &[u32]| Some(Touched { ends: vec![80], ..Touched::default() });
    let made = inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut trial).unwrap_or_default();
    assert_eq!(made[0].buffers[&slot(0)].len(), 4 + 8 * 10);
    let mut never =
        |_: &Dispatch, _: &[u32]| Some(Touched { ends: vec![0], out_of_bounds: true, ..Touched::default() });
    let made = inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut never).unwrap_or_default();
    assert_eq!(made[0].buffers[&slot(0)].len(), 4 + 8 * 4);
}

#[test]
fn aliased_slots_hold_the_same() {
    let mut larger = buffer(2, 0, 1);
    larger.size = 12;
    let program = program(vec![buffer(1, 0, 0), larger]);
    let mut launch = launch(1, 2, 2);
    launch.aliases = BTreeMap::from([(slot(0), slot(0)), (slot(1), slot(0))]);
    let made = made(&program, &launch, 2, 0);
    assert_eq!(words(&made[1], 0), [1, 2, 3]);
    assert_eq!(words(&made[1], 1), [1, 2, 3]);
}

#[test]
fn what_only_after_has_is_undefined() {
    let before = program(vec![buffer(1, 0, 0)]);
    let after = program(vec![buffer(1, 0, 0), buffer(2, 0, 5)]);
    let made = inputs(&before, Some(&after), &launch(1, 1, 1), 1, 0, &mut untried).unwrap_or_default();
    assert_eq!(made[0].buffers[&slot(5)], vec![Byte::Undef; 8]);
}

/// A program with a runtime array, and a trial of it that touches so many bytes; it counts how often it is run.
fn of_runtime_array() -> Program {
    let mut variable = buffer(1, 0, 0);
    variable.size = 0;
    variable.runtime_stride = Some(4);
    program(vec![variable])
}

fn touching<'t>(
    bytes: &'t u32,
    trials: &'t mut usize,
) -> impl FnMut(&Dispatch, &[u32]) -> Option<Touched> + 't {
    move |_, limits| {
        *trials += 1;
        assert!(limits[0] > *bytes);
        Some(Touched { ends: vec![*bytes], ..Touched::default() })
    }
}

fn next(inputs: &mut Inputs, trial: &mut Trial<'_>) -> usize {
    match inputs.next(trial) {
        Ok(Next::Input(input)) => input.buffers[&slot(0)].len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_are_chosen_once_for_modules_that_are_alike() {
    let (program, launch, mut trials) = (of_runtime_array(), launch(1, 2, 2), 0);
    let mut inputs = Inputs::new(&program, None, &launch, 3, 0, Chosen::default());
    let mut trial = touching(&12, &mut trials);
    assert_eq!([next(&mut inputs, &mut trial), next(&mut inputs, &mut trial)], [12, 12]);
    let chosen = inputs.into_chosen(&mut Kept::default());
    let mut later = Inputs::new(&program, None, &launch, 3, 0, chosen.clone());
    assert_eq!(next(&mut later, &mut trial), 12);
    drop(trial);
    assert_eq!(trials, 1);
    // Other memory is sized anew.
    let mut other = of_runtime_array();
    other.variables[0].size = 4;
    let mut inputs = Inputs::new(&other, None, &launch, 3, 0, chosen);
    assert_eq!(next(&mut inputs, &mut touching(&20, &mut trials)), 20);
}

#[test]
fn an_input_that_was_too_small_is_resized() {
    let (program, launch, mut trials) = (of_runtime_array(), launch(1, 2, 2), 0);
    let mut inputs = Inputs::new(&program, None, &launch, 3, 0, Chosen::default());
    assert_eq!(next(&mut inputs, &mut touching(&12, &mut trials)), 12);
    // By its own trial already.
    assert!(matches!(inputs.resized(&mut touching(&40, &mut trials)), Ok(Next::Over)));
    assert_eq!(next(&mut inputs, &mut touching(&40, &mut trials)), 12);
    match inputs.resized(&mut touching(&40, &mut trials)) {
        Ok(Next::Input(input)) => assert_eq!(input.buffers[&slot(0)].len(), 40),
        other => panic!("{other:?}"),
    }
    assert_eq!(next(&mut inputs, &mut touching(&12, &mut trials)), 12);
    assert!(matches!(inputs.resized(&mut touching(&12, &mut trials)), Ok(Next::Over)));
    assert_eq!((inputs.begun(), inputs.left()), (3, 0));
}

#[test]
fn what_takes_an_input_on_is_as_large() {
    let (program, launch, mut trials) = (of_runtime_array(), launch(1, 2, 2), 0);
    let mut inputs = Inputs::new(&program, None, &launch, 9, 0, Chosen::default());
    assert_eq!(next(&mut inputs, &mut touching(&12, &mut trials)), 12);
    assert_eq!(next(&mut inputs, &mut touching(&12, &mut trials)), 12);
    assert!(matches!(inputs.resized(&mut touching(&40, &mut trials)), Ok(Next::Input(_))));
    inputs.serve(true, false);
    let known = trials;
    let recipe = inputs.recipe().clone();
    let mut trial = touching(&12, &mut trials);
    let taken = [inputs.grafted(&mut trial), inputs.patched(&recipe, Vec::new(), &mut trial)];
    for taken in taken.into_iter().flatten() {
        let Next::Input(input) = taken else { continue };
        assert_eq!(input.buffers[&slot(0)].len(), 40);
    }
    // Others are as large as the first.
    assert_eq!(next(&mut inputs, &mut trial), 12);
    drop(trial);
    assert_eq!(trials, known);
}

#[test]
fn a_trial_without_time_makes_no_input() {
    let (program, launch) = (of_runtime_array(), launch(1, 2, 2));
    let mut inputs = Inputs::new(&program, None, &launch, 3, 0, Chosen::default());
    assert!(matches!(inputs.next(&mut |_, _| None), Ok(Next::OutOfTime)));
    assert_eq!((inputs.begun(), inputs.left()), (0, 3));
}

#[test]
fn inputs_that_served_are_varied() {
    let program = program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]);
    let launch = launch(1, 2, 2);
    let mut inputs = Inputs::new(&program, None, &launch, 40, 0, Chosen::default());
    assert!(matches!(inputs.grafted(&mut untried), Ok(Next::Over)));
    let Ok(Next::Input(zeros)) = inputs.next(&mut untried) else { panic!("no input") };
    inputs.serve(true, false);
    let mut mixed = Vec::new();
    while inputs.left() > 0 {
        // One that changes nothing is left out.
        if let Ok(Next::Input(input)) = inputs.grafted(&mut untried) {
            mixed.push(input);
        }
    }
    assert!(mixed.len() > 20 && mixed.iter().all(|input| input.name.starts_with("mixed ")));
    let some = |input: &&Input| {
        let all = [words(input, 0), words(input, 1)].concat();
        all.contains(&0) && all != [words(&zeros, 0), words(&zeros, 1)].concat()
    };
    assert!(mixed.iter().filter(some).count() > 10);
}

/// Inputs of a step of a pipeline, at least three, with those that were not finished before.
fn kept<'p>(program: &'p Program, launch: &'p Launch, kept: &mut Kept) -> (Inputs<'p>, LeftOut) {
    let mut inputs = Inputs::new(program, None, launch, 16, 0, Chosen::default());
    let left_out = inputs.keep(kept, (program, program), (launch, &[]), 3);
    (inputs, left_out)
}

fn left(inputs: usize, are_most: bool) -> LeftOut {
    LeftOut { inputs, are_most }
}

fn names(inputs: &mut Inputs, trial: &mut Trial<'_>, count: usize) -> Vec<String> {
    let input = |_| match inputs.next(trial) {
        Ok(Next::Input(input)) => Some(input.name),
        Ok(Next::Over | Next::OutOfTime) | Err(_) => None,
    };
    (0..count).map_while(input).collect()
}

#[test]
fn a_step_of_a_pipeline_begins_with_the_inputs_on_which_before_was_defined() {
    let (program, launch, mut trials, mut known) = (of_runtime_array(), launch(1, 2, 2), 0, Kept::default());
    let mut trial = touching(&12, &mut trials);
    let (mut first, _) = kept(&program, &launch, &mut known);
    for was in [Was::Undefined, Was::Defined, Was::Unfinished, Was::Defined, Was::Defined, Was::Undefined] {
        assert_eq!(next(&mut first, &mut trial), 12);
        first.came(was);
    }
    // What a look found comes after the first two.
    first.extend(9);
    let Ok(Next::Input(telling)) = first.next(&mut trial) else { panic!("no input") };
    first.serve(true, false);
    first.into_chosen(&mut known);
    let (mut second, left_out) = kept(&program, &launch, &mut known);
    let again = ["distinct", "boundary 2", &telling.name, "boundary 3"];
    assert_eq!(names(&mut second, &mut trial, 16), again);
    assert_eq!((second.begun(), second.left(), left_out), (4, 0, left(1, false)));
    // Looks are at others than before.
    second.extend(9);
    let others = names(&mut second, &mut trial, 3);
    assert!(others.len() == 3 && others.iter().all(|name| !again.contains(&name.as_str())), "{others:?}");
    second.into_chosen(&mut known);
    drop(trial);
    // One for the first input of the first step, and one for the first look of the second.
    assert_eq!(trials, 2);
    // Other memory has other inputs.
    let mut other = of_runtime_array();
    other.variables[0].size = 4;
    let (mut third, _) = kept(&other, &launch, &mut known);
    assert_eq!(names(&mut third, &mut touching(&20, &mut trials), 2), ["zeros", "distinct"]);
}

#[test]
fn a_step_of_a_pipeline_tries_others_where_before_is_defined_on_few() {
    let (program, launch, mut trials) = (of_runtime_array(), launch(1, 2, 2), 0);
    let mut again = |all: &[Was]| {
        let mut known = Kept::default();
        let mut trial = touching(&12, &mut trials);
        let (mut first, _) = kept(&program, &launch, &mut known);
        for was in all {
            next(&mut first, &mut trial);
            first.came(*was);
        }
        first.into_chosen(&mut known);
        let (mut second, left_out) = kept(&program, &launch, &mut known);
        (names(&mut second, &mut trial, 4).join(", "), left_out)
    };
    use Was::{Defined, Undefined, Unfinished};
    // As many as there are at least, of those on which it is not defined.
    assert_eq!(again(&[Undefined; 5]), ("zeros, distinct, boundary 1".to_owned(), left(0, false)));
    assert_eq!(again(&[Undefined, Defined, Undefined, Undefined]).0, "distinct, zeros, boundary 1");
    // What was not finished, only where nothing else is known.
    assert_eq!(again(&[Unfinished; 2]), ("zeros, distinct".to_owned(), left(0, false)));
    assert_eq!(again(&[Defined, Unfinished]), ("zeros".to_owned(), left(1, false)));
    assert_eq!(again(&[Undefined, Unfinished, Unfinished]), ("zeros".to_owned(), left(2, true)));
    // New ones, where there were too few.
    assert_eq!(again(&[Defined]).0, "zeros, distinct, boundary 1, boundary 2");
}
