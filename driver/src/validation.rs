//! Vulkan's validation layer, and what it objects to.

use std::ffi::{c_void, CStr};
use std::sync::{Mutex, PoisonError};

use ash::vk;

use crate::error::{failed, Error};

/// The layer of the Khronos Group.
pub(crate) const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// Objections that are told at once, at most.
const MOST_TOLD: usize = 4;

/// What the layer has objected to.
type Objections = Mutex<Vec<String>>;

/// Listens to the layer of one instance.
pub(crate) struct Validation {
    functions: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    // Where it lies the layer knows.
    objections: Box<Objections>,
}

impl Validation {
    /// Whether the layer is installed.
    ///
    /// # Errors
    /// It is not, or the loader does not say.
    pub(crate) fn find(entry: &ash::Entry) -> Result<(), Error> {
        // SAFETY: the loader is loaded; the call has no other precondition.
        let layers = unsafe { entry.enumerate_instance_layer_properties() }
            .map_err(failed("vkEnumerateInstanceLayerProperties"))?;
        match layers.iter().any(|layer| layer.layer_name_as_c_str() == Ok(LAYER)) {
            true => Ok(()),
            false => {
                let layer = LAYER.to_string_lossy();
                Err(Error::new(format!("there is no layer {layer} (Debian: vulkan-validationlayers)")))
            }
        }
    }

    /// Listens to an instance that has the layer and `VK_EXT_debug_utils`.
    ///
    /// # Errors
    /// The messenger cannot be made.
    pub(crate) fn of(entry: &ash::Entry, instance: &ash::Instance) -> Result<Self, Error> {
        let functions = ash::ext::debug_utils::Instance::new(entry, instance);
        let objections = Box::<Objections>::default();
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
            .pfn_user_callback(Some(note))
            .user_data(std::ptr::from_ref::<Objections>(&objections).cast_mut().cast());
        // SAFETY: the instance is alive; `objections` stays where it is until the messenger is destroyed.
        let messenger = unsafe { functions.create_debug_utils_messenger(&info, None) }
            .map_err(failed("vkCreateDebugUtilsMessengerEXT"))?;
        Ok(Validation { functions, messenger, objections })
    }

    /// What the layer has objected to since the last call, in words; `None` where it has not.
    pub(crate) fn take(&self) -> Option<String> {
        let mut objections = self.objections.lock().unwrap_or_else(PoisonError::into_inner);
        let all = std::mem::take(&mut *objections);
        let more = all.len().saturating_sub(MOST_TOLD);
        let told = all.into_iter().take(MOST_TOLD).collect::<Vec<_>>().join("; ");
        match (told.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(format!("the validation layer objects: {told}")),
            (false, more) => Some(format!("the validation layer objects: {told}; and {more} more")),
        }
    }

    /// Ends listening.
    ///
    /// # Safety
    /// The instance is alive, and nobody calls it meanwhile.
    pub(crate) unsafe fn destroy(&self) {
        // SAFETY: the messenger is of this instance, and not used again: the owner is dropped.
        unsafe { self.functions.destroy_debug_utils_messenger(self.messenger, None) };
    }
}

/// Notes an objection: the identifier in the Vulkan specification, and what it says.
///
/// # Safety
/// `data` and its strings are valid as the extension says, and `user` points to [`Objections`].
unsafe extern "system" fn note(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the caller's; both are null or valid during the call.
    let (data, objections) = unsafe { (data.as_ref(), user.cast::<Objections>().as_ref()) };
    if let (Some(data), Some(objections)) = (data, objections) {
        // SAFETY: the strings live as long as `data`.
        let [name, message] = unsafe { [data.message_id_name_as_c_str(), data.message_as_c_str()] };
        let message = message.unwrap_or_default().to_string_lossy();
        let told = told(&name.unwrap_or_default().to_string_lossy(), &message);
        let mut objections = objections.lock().unwrap_or_else(PoisonError::into_inner);
        if !objections.contains(&told) {
            objections.push(told);
        }
    }
    vk::FALSE
}

/// An objection without handles and numbers, which come before the last bar.
fn told(name: &str, message: &str) -> String {
    let words = message.rsplit(" | ").next().unwrap_or(message);
    format!("{name}: {}", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn objections_lose_their_handles() {
        let message = "Validation Error: [ VUID-a-b-01 ] Object 0: handle = 0x5, type = X; | MessageID = 0x2 | It must\n not.";
        assert_eq!(told("VUID-a-b-01", message), "VUID-a-b-01: It must not.");
        assert_eq!(told("VUID-a-b-01", "It must not."), "VUID-a-b-01: It must not.");
    }
}
