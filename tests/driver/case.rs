//! A case: one way to use an instruction, on many operands. Many cases make one module.
//!
//! Invocation `i` computes lane `i` of every case. Operands come from one storage buffer per component
//! type, results go to another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use spirv_tv::check::CheckOptions;
use spirv_tv::launch::options::BufferSetting;
use spirv_tv::launch::{Contents, LaunchOptions, Size3, Slot, Target};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;
use spirv_tv_driver::Device;

use super::exceptions::{exception, Driver, LAVAPIPE};
use super::glsl;
use super::oracle::{self, Memory};
use super::text::{Scalar, Text, Type, U32};
use super::tolerance::Tolerance;
use super::values::is_denormal;

/// Components of the operands of one invocation, operand by operand.
pub type Lane = Vec<Vec<u64>>;

/// Appends the instructions under test; takes the operands' ids, gives the results'.
pub type Body = Box<dyn Fn(&mut Text, &[String]) -> Vec<String> + Send + Sync>;

/// One way to use an instruction.
pub struct Case {
    pub name: String,
    pub operands: Vec<Type>,
    pub results: Vec<Type>,
    pub lanes: Vec<Lane>,
    pub tolerance: Tolerance,
    pub body: Body,
}

/// Invocations of a workgroup.
pub const LOCAL_SIZE: u32 = 32;

/// How many differences of a case are told.
const TOLD: usize = 4;

/// A case as it is run.
struct Prepared<'a> {
    case: &'a Case,
    lanes: Vec<Lane>,
    /// For a lane with denormal operands, the added lane where these are zeros.
    flushed: BTreeMap<usize, usize>,
    /// First elements of the results in their buffers.
    results: Vec<u32>,
}

impl<'a> Prepared<'a> {
    fn new(driver: Driver, case: &'a Case) -> Self {
        let is_kept = |lane: &&Lane| exception(driver, case, lane).is_none();
        let mut lanes: Vec<Lane> = case.lanes.iter().filter(is_kept).cloned().collect();
        let mut flushed = BTreeMap::new();
        for lane in 0..lanes.len() {
            if let Some(copy) = flush(&case.operands, &lanes[lane]) {
                flushed.insert(lane, lanes.len());
                lanes.push(copy);
            }
        }
        Prepared { case, lanes, flushed, results: Vec::new() }
    }
}

/// The operands with zeros for denormals; `None` without denormals.
fn flush(types: &[Type], lane: &Lane) -> Option<Lane> {
    let mut found = false;
    let mut copy = lane.clone();
    for (ty, components) in types.iter().zip(&mut copy) {
        for bits in components {
            if let Scalar::Float(width) = ty.scalar {
                if is_denormal(width, *bits) {
                    *bits &= 1 << (width - 1);
                    found = true;
                }
            }
        }
    }
    found.then_some(copy)
}

/// What running a batch showed.
#[derive(Default)]
pub struct Findings {
    /// Differences.
    pub complaints: Vec<String>,
    /// Opcodes of the modules that both ran, and numbers of extended instructions.
    pub opcodes: BTreeSet<u32>,
    pub extended: BTreeSet<u32>,
    /// Components compared.
    pub compared: u64,
    /// Modules that the device cannot run.
    pub lacking: Vec<String>,
}

impl Findings {
    pub fn add(&mut self, other: Findings) {
        self.complaints.extend(other.complaints);
        self.opcodes.extend(other.opcodes);
        self.extended.extend(other.extended);
        self.compared += other.compared;
        self.lacking.extend(other.lacking);
    }

    /// Counts a module that ran on both.
    pub fn count(&mut self, module: &Module) {
        const OP_EXT_INST: u16 = 12;
        for instruction in module.instructions() {
            self.opcodes.insert(u32::from(instruction.opcode));
            if instruction.opcode == OP_EXT_INST {
                self.extended.extend(instruction.word(1));
            }
        }
    }
}

/// Runs cases as one module.
pub fn run_batch(device: &Device, name: &str, cases: &[Case]) -> Findings {
    let mut findings = Findings::default();
    if let Err(error) = try_batch(device, name, cases, &mut findings) {
        findings.complaints.push(format!("{name}: {error}"));
    }
    findings
}

/// Cases as one module, with what is launched.
struct Batch<'a> {
    prepared: Vec<Prepared<'a>>,
    module: Module,
    options: CheckOptions,
}

impl<'a> Batch<'a> {
    fn new(driver: Driver, name: &str, cases: &'a [Case]) -> Result<Self, String> {
        let mut prepared: Vec<Prepared> = cases.iter().map(|case| Prepared::new(driver, case)).collect();
        let lanes = prepared.iter().map(|case| case.lanes.len()).max().unwrap_or(0) as u32;
        let workgroups = lanes.div_ceil(LOCAL_SIZE).max(1);
        let mut builder = Builder::new(workgroups * LOCAL_SIZE);
        for case in prepared.iter_mut().filter(|case| !case.lanes.is_empty()) {
            builder.write(case);
        }
        let options = CheckOptions { launch: builder.launch(workgroups), ..CheckOptions::default() };
        let text = builder.text.finish(LOCAL_SIZE);
        if std::env::var_os("DRIVER_TEXT").is_some() {
            println!("; {name}\n{text}");
        }
        let module = oracle::module(name, &text).map_err(|error| format!("{error}\n{text}"))?;
        Ok(Batch { prepared, module, options })
    }
}

/// Counts the instructions of cases without running them.
pub fn count_batch(name: &str, cases: &[Case]) -> Findings {
    let mut findings = Findings::default();
    match Batch::new(LAVAPIPE, name, cases) {
        Ok(batch) => findings.count(&batch.module),
        Err(error) => findings.complaints.push(error),
    }
    findings
}

/// What exceptions hang on.
fn driver(device: &Device) -> Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    let probe = || {
        let is_lavapipe = device.is_lavapipe();
        let rounds_doubles =
            truncated_zero(device).unwrap_or_else(|error| panic!("the probe failed: {error}"));
        Driver { is_lavapipe, rounds_doubles }
    };
    *DRIVER.get_or_init(probe)
}

/// Whether the device truncates a negative zero of 64 bits to a negative zero, or does not know doubles.
fn truncated_zero(device: &Device) -> Result<bool, String> {
    let case = glsl::trunc(vec![vec![vec![(-0.0_f64).to_bits()]]]);
    let batch = Batch::new(LAVAPIPE, "probe", std::slice::from_ref(&case))?;
    let Some(theirs) = oracle::run(device, &batch.module, &batch.options)?.theirs else { return Ok(true) };
    let binding = binding(Scalar::Float(64)) + 1;
    let key = Slot { set: 0, binding, element: None }.to_string();
    let bytes = theirs.get(&key).and_then(|bytes| bytes.first_chunk()).ok_or("no result was read back")?;
    Ok(f64::from_le_bytes(*bytes).is_sign_negative())
}

fn try_batch(device: &Device, name: &str, cases: &[Case], findings: &mut Findings) -> Result<(), String> {
    let batch = Batch::new(driver(device), name, cases)?;
    let ran = oracle::run(device, &batch.module, &batch.options)?;
    let [ours] = &ran.ours[..] else { return Err(format!("{} outcomes", ran.ours.len())) };
    let Some(theirs) = ran.theirs else {
        findings.lacking.push(name.to_owned());
        return Ok(());
    };
    findings.count(&batch.module);
    for case in &batch.prepared {
        compare(case, ours, &theirs, findings);
    }
    Ok(())
}

struct Builder {
    text: Text,
    /// Elements of the operands' buffers.
    inputs: BTreeMap<Scalar, Vec<u64>>,
    /// How many elements the results' buffers have.
    outputs: BTreeMap<Scalar, u32>,
    invocations: u32,
}

/// The binding of the buffer with operands of this component type; that with results is the next one.
fn binding(scalar: Scalar) -> u32 {
    let kind = match scalar {
        Scalar::Bool | Scalar::Unsigned(_) => 0,
        Scalar::Signed(_) => 4,
        Scalar::Float(_) => 8,
    };
    2 * (kind + u32::from(scalar.width()).ilog2() - 3)
}

impl Builder {
    fn new(invocations: u32) -> Self {
        Builder { text: Text::default(), inputs: BTreeMap::new(), outputs: BTreeMap::new(), invocations }
    }

    /// Appends the operands' data and the instructions of a case.
    fn write(&mut self, prepared: &mut Prepared) {
        let case = prepared.case;
        let mut ids = Vec::new();
        for (operand, ty) in case.operands.iter().enumerate() {
            let data = self.inputs.entry(ty.scalar.stored()).or_default();
            let first = data.len() as u32;
            // Invocations without a lane of their own compute an earlier one again.
            for lane in prepared.lanes.iter().cycle().take(self.invocations as usize) {
                data.extend(&lane[operand]);
            }
            ids.push(self.load(*ty, first));
        }
        let values = (case.body)(&mut self.text, &ids);
        assert_eq!(values.len(), case.results.len(), "{}", case.name);
        for (value, ty) in values.iter().zip(&case.results) {
            let size = self.outputs.entry(ty.scalar.stored()).or_default();
            let first = *size;
            *size += self.invocations * ty.count;
            prepared.results.push(first);
            self.store(*ty, first, value);
        }
    }

    /// The address of an element in the buffer at a binding.
    fn element(&mut self, binding: u32, scalar: Scalar, count: u32, offset: u32) -> String {
        let uint = self.text.ty(U32);
        let id = self.text.built_in("GlobalInvocationId", Type::new(U32, 3));
        let mut index = self.text.head_op(&uint, "OpCompositeExtract", &format!("{id} 0"));
        if count > 1 {
            let count = self.text.constant(count);
            index = self.text.head_op(&uint, "OpIMul", &format!("{index} {count}"));
        }
        let offset = self.text.constant(offset);
        let index = self.text.op(&uint, "OpIAdd", &format!("{index} {offset}"));
        let buffer = self.text.buffer(binding, scalar);
        let ty = self.text.scalar(scalar);
        let pointer = self.text.global(&format!("OpTypePointer StorageBuffer {ty}"));
        let zero = self.text.constant(0);
        self.text.op(&pointer, "OpAccessChain", &format!("{buffer} {zero} {index}"))
    }

    fn load(&mut self, ty: Type, first: u32) -> String {
        let stored = ty.scalar.stored();
        let stored_type = self.text.scalar(stored);
        let mut parts = Vec::new();
        for component in 0..ty.count {
            let address = self.element(binding(stored), stored, ty.count, first + component);
            parts.push(self.text.op(&stored_type, "OpLoad", &address));
        }
        let whole = Type::new(stored, ty.count);
        let whole_type = self.text.ty(whole);
        let value = match &parts[..] {
            [part] => part.clone(),
            parts => self.text.op(&whole_type, "OpCompositeConstruct", &parts.join(" ")),
        };
        if ty.scalar != Scalar::Bool {
            return value;
        }
        let zero = self.text.splat(whole, "0");
        let bools = self.text.ty(ty);
        self.text.op(&bools, "OpINotEqual", &format!("{value} {zero}"))
    }

    fn store(&mut self, ty: Type, first: u32, value: &str) {
        let stored = ty.scalar.stored();
        let whole = Type::new(stored, ty.count);
        let mut value = value.to_owned();
        if ty.scalar == Scalar::Bool {
            let (one, zero) = (self.text.splat(whole, "1"), self.text.splat(whole, "0"));
            let whole = self.text.ty(whole);
            value = self.text.op(&whole, "OpSelect", &format!("{value} {one} {zero}"));
        }
        let stored_type = self.text.scalar(stored);
        for component in 0..ty.count {
            let part = match ty.count {
                1 => value.clone(),
                _ => self.text.op(&stored_type, "OpCompositeExtract", &format!("{value} {component}")),
            };
            let address = self.element(binding(stored) + 1, stored, ty.count, first + component);
            self.text.emit(&format!("OpStore {address} {part}"));
        }
    }

    /// The buffers: operands, and room for results.
    fn launch(&self, workgroups: u32) -> LaunchOptions {
        let buffer = |binding: u32, contents: Contents| BufferSetting {
            target: Target::Slot(Slot { set: 0, binding, element: None }),
            contents,
        };
        let mut buffers = Vec::new();
        for (scalar, data) in &self.inputs {
            let bytes = usize::from(scalar.width() / 8);
            let flat: Vec<u8> =
                data.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(bytes)).collect();
            buffers.push(buffer(binding(*scalar), Contents::Words(words(&flat))));
        }
        for (scalar, count) in &self.outputs {
            let bytes = count * u32::from(scalar.width() / 8);
            buffers.push(buffer(binding(*scalar) + 1, Contents::Zeros(bytes.div_ceil(4))));
        }
        LaunchOptions { workgroups: Some(Size3([workgroups, 1, 1])), buffers, ..LaunchOptions::default() }
    }
}

/// Bytes as little-endian words, the last one filled up with zeros.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks(4)
        .map(|chunk| {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        })
        .collect()
}

fn compare(prepared: &Prepared, ours: &Memory<Byte>, theirs: &Memory<u8>, findings: &mut Findings) {
    let case = prepared.case;
    let mut told = Vec::new();
    for ((result, ty), &first) in case.results.iter().enumerate().zip(&prepared.results) {
        let stored = ty.scalar.stored();
        let key = Slot { set: 0, binding: binding(stored) + 1, element: None }.to_string();
        let (Some(ours), Some(theirs)) = (ours.get(&key), theirs.get(&key)) else {
            findings.complaints.push(format!("{}: buffer {key} was not read back", case.name));
            return;
        };
        let bytes = usize::from(stored.width() / 8);
        for lane in 0..prepared.lanes.len() {
            for component in 0..ty.count as usize {
                let place = |lane: usize| (first as usize + lane * ty.count as usize + component) * bytes;
                let allowed = [Some(lane), prepared.flushed.get(&lane).copied()];
                let allowed: Vec<&[Byte]> = allowed
                    .into_iter()
                    .flatten()
                    .map(|lane| &ours[place(lane)..place(lane) + bytes])
                    .collect();
                let got = &theirs[place(lane)..place(lane) + bytes];
                findings.compared += 1;
                if !allowed.iter().any(|ours| case.tolerance.accepts(ty.scalar, ours, got)) {
                    let operands = &prepared.lanes[lane];
                    told.push(format!(
                        "{}: result {result} component {component} of {operands:x?}: we {}, driver {}",
                        case.name,
                        allowed.iter().map(|ours| show(ours)).collect::<Vec<_>>().join(" or "),
                        show(&got.iter().copied().map(Byte::Known).collect::<Vec<_>>()),
                    ));
                }
            }
        }
    }
    if told.len() > TOLD {
        let rest = told.len() - TOLD;
        told.truncate(TOLD);
        told.push(format!("{}: {rest} more", case.name));
    }
    findings.complaints.extend(told);
}

/// Little-endian bytes as a hexadecimal number, `??` for an undefined byte.
fn show(bytes: &[Byte]) -> String {
    let digits = bytes.iter().rev().map(|byte| match byte {
        Byte::Known(value) => format!("{value:02x}"),
        Byte::Undef => "??".to_owned(),
    });
    format!("0x{}", digits.collect::<String>())
}
