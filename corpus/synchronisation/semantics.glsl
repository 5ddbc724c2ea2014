// What the programs of this folder synchronise by, and what their broken versions make of it.
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require

#ifndef STORAGE
#define STORAGE gl_StorageSemanticsBuffer
#endif
#ifndef SCOPE
#define SCOPE gl_ScopeDevice
#endif

#define RELAXED 0, 0

#ifdef NO_VISIBLE
#define ACQUIRE_FLAGS gl_SemanticsAcquire
#define VISIBLE 0
#else
#define ACQUIRE_FLAGS gl_SemanticsAcquire | gl_SemanticsMakeVisible
#define VISIBLE gl_SemanticsMakeVisible
#endif
#ifdef NO_AVAILABLE
#define RELEASE_FLAGS gl_SemanticsRelease
#define AVAILABLE 0
#else
#define RELEASE_FLAGS gl_SemanticsRelease | gl_SemanticsMakeAvailable
#define AVAILABLE gl_SemanticsMakeAvailable
#endif

#ifdef NO_ACQUIRE
#define ACQUIRE RELAXED
#else
#define ACQUIRE STORAGE, ACQUIRE_FLAGS
#endif
#ifdef NO_RELEASE
#define RELEASE RELAXED
#else
#define RELEASE STORAGE, RELEASE_FLAGS
#endif

// Acquire and release, for what hands over what was handed to it.
#if defined(NO_ACQUIRE)
#define BOTH RELEASE
#elif defined(NO_RELEASE)
#define BOTH ACQUIRE
#else
#define BOTH STORAGE, gl_SemanticsAcquireRelease | AVAILABLE | VISIBLE
#endif

// A fence is left out where its semantics are.
#ifdef NO_ACQUIRE
#define ACQUIRE_FENCE
#else
#define ACQUIRE_FENCE memoryBarrier(SCOPE, ACQUIRE)
#endif
#ifdef NO_RELEASE
#define RELEASE_FENCE
#else
#define RELEASE_FENCE memoryBarrier(SCOPE, RELEASE)
#endif
