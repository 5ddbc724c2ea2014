//! A Vulkan device that is broken: it changes modules before it runs them, or what comes of them.

use std::process::ExitCode;

use spirv_tv_driver::{VulkanExecutor, Wanted};
use spirv_tv_executor::{Case, Description, Execution, Executor};

use crate::faults::{find, Fault};

/// Compilers of drivers go deep on long functions.
const STACK: usize = 256 << 20;

struct Broken {
    device: VulkanExecutor,
    fault: Fault,
}

impl Executor for Broken {
    fn describe(&self) -> Result<Description, Execution> {
        self.device.describe()
    }

    fn execute(&self, case: &Case) -> Execution {
        let words = self.fault.change(&case.words).unwrap_or_else(|| case.words.clone());
        let changed = self.fault.launch(&Case { words, ..case.clone() });
        self.fault.answer(case, self.device.execute(&changed))
    }
}

/// Serves as an executor with the fault of this name.
pub fn serve(fault: &str) -> ExitCode {
    let Some(fault) = find(fault) else { return ExitCode::from(2) };
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let device = VulkanExecutor::new(Wanted::default());
        spirv_tv_executor::serve(&Broken { device, fault }, None).is_ok()
    });
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
