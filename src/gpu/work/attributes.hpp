// What the CUDA driver tells about a device, by the names that VerifiedGpu::numbers has: all that
// cuda.h of CUDA 13.0 knows, without what it calls deprecated and what only Windows has.
#pragma once

namespace gpuvet {

// clang-format off
// ROW(number, our name, name in cuda.h behind CU_DEVICE_ATTRIBUTE_)
#define GPUVET_CUDA_ATTRIBUTES(ROW) \
  ROW(1, threads_per_block_max, MAX_THREADS_PER_BLOCK)                                             \
  ROW(2, block_dim_x_max, MAX_BLOCK_DIM_X)                                                         \
  ROW(3, block_dim_y_max, MAX_BLOCK_DIM_Y)                                                         \
  ROW(4, block_dim_z_max, MAX_BLOCK_DIM_Z)                                                         \
  ROW(5, grid_dim_x_max, MAX_GRID_DIM_X)                                                           \
  ROW(6, grid_dim_y_max, MAX_GRID_DIM_Y)                                                           \
  ROW(7, grid_dim_z_max, MAX_GRID_DIM_Z)                                                           \
  ROW(8, shared_bytes_per_block, MAX_SHARED_MEMORY_PER_BLOCK)                                      \
  ROW(9, constant_bytes, TOTAL_CONSTANT_MEMORY)                                                    \
  ROW(10, warp_threads, WARP_SIZE)                                                                 \
  ROW(11, pitch_max, MAX_PITCH)                                                                    \
  ROW(12, registers_per_block, MAX_REGISTERS_PER_BLOCK)                                            \
  ROW(13, clock_khz, CLOCK_RATE)                                                                   \
  ROW(14, texture_alignment, TEXTURE_ALIGNMENT)                                                    \
  ROW(16, multiprocessors, MULTIPROCESSOR_COUNT)                                                   \
  ROW(17, kernel_exec_timeout, KERNEL_EXEC_TIMEOUT)                                                \
  ROW(18, integrated, INTEGRATED)                                                                  \
  ROW(19, maps_host_memory, CAN_MAP_HOST_MEMORY)                                                   \
  ROW(20, compute_mode_number, COMPUTE_MODE)                                                       \
  ROW(21, texture_1d_width_max, MAXIMUM_TEXTURE1D_WIDTH)                                           \
  ROW(22, texture_2d_width_max, MAXIMUM_TEXTURE2D_WIDTH)                                           \
  ROW(23, texture_2d_height_max, MAXIMUM_TEXTURE2D_HEIGHT)                                         \
  ROW(24, texture_3d_width_max, MAXIMUM_TEXTURE3D_WIDTH)                                           \
  ROW(25, texture_3d_height_max, MAXIMUM_TEXTURE3D_HEIGHT)                                         \
  ROW(26, texture_3d_depth_max, MAXIMUM_TEXTURE3D_DEPTH)                                           \
  ROW(27, texture_2d_layered_width_max, MAXIMUM_TEXTURE2D_LAYERED_WIDTH)                           \
  ROW(28, texture_2d_layered_height_max, MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)                         \
  ROW(29, texture_2d_layered_layers_max, MAXIMUM_TEXTURE2D_LAYERED_LAYERS)                         \
  ROW(30, surface_alignment, SURFACE_ALIGNMENT)                                                    \
  ROW(31, concurrent_kernels, CONCURRENT_KERNELS)                                                  \
  ROW(32, ecc_enabled, ECC_ENABLED)                                                                \
  ROW(33, pci_bus, PCI_BUS_ID)                                                                     \
  ROW(34, pci_device, PCI_DEVICE_ID)                                                               \
  ROW(36, memory_clock_khz, MEMORY_CLOCK_RATE)                                                     \
  ROW(37, memory_bus_bits, GLOBAL_MEMORY_BUS_WIDTH)                                                \
  ROW(38, l2_bytes, L2_CACHE_SIZE)                                                                 \
  ROW(39, threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR)                              \
  ROW(40, copy_engines, ASYNC_ENGINE_COUNT)                                                        \
  ROW(41, unified_addressing, UNIFIED_ADDRESSING)                                                  \
  ROW(42, texture_1d_layered_width_max, MAXIMUM_TEXTURE1D_LAYERED_WIDTH)                           \
  ROW(43, texture_1d_layered_layers_max, MAXIMUM_TEXTURE1D_LAYERED_LAYERS)                         \
  ROW(45, texture_2d_gather_width_max, MAXIMUM_TEXTURE2D_GATHER_WIDTH)                             \
  ROW(46, texture_2d_gather_height_max, MAXIMUM_TEXTURE2D_GATHER_HEIGHT)                           \
  ROW(47, texture_3d_width_alternate_max, MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE)                       \
  ROW(48, texture_3d_height_alternate_max, MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE)                     \
  ROW(49, texture_3d_depth_alternate_max, MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)                       \
  ROW(50, pci_domain, PCI_DOMAIN_ID)                                                               \
  ROW(51, texture_pitch_alignment, TEXTURE_PITCH_ALIGNMENT)                                        \
  ROW(52, texture_cubemap_width_max, MAXIMUM_TEXTURECUBEMAP_WIDTH)                                 \
  ROW(53, texture_cubemap_layered_width_max, MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)                 \
  ROW(54, texture_cubemap_layered_layers_max, MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)               \
  ROW(55, surface_1d_width_max, MAXIMUM_SURFACE1D_WIDTH)                                           \
  ROW(56, surface_2d_width_max, MAXIMUM_SURFACE2D_WIDTH)                                           \
  ROW(57, surface_2d_height_max, MAXIMUM_SURFACE2D_HEIGHT)                                         \
  ROW(58, surface_3d_width_max, MAXIMUM_SURFACE3D_WIDTH)                                           \
  ROW(59, surface_3d_height_max, MAXIMUM_SURFACE3D_HEIGHT)                                         \
  ROW(60, surface_3d_depth_max, MAXIMUM_SURFACE3D_DEPTH)                                           \
  ROW(61, surface_1d_layered_width_max, MAXIMUM_SURFACE1D_LAYERED_WIDTH)                           \
  ROW(62, surface_1d_layered_layers_max, MAXIMUM_SURFACE1D_LAYERED_LAYERS)                         \
  ROW(63, surface_2d_layered_width_max, MAXIMUM_SURFACE2D_LAYERED_WIDTH)                           \
  ROW(64, surface_2d_layered_height_max, MAXIMUM_SURFACE2D_LAYERED_HEIGHT)                         \
  ROW(65, surface_2d_layered_layers_max, MAXIMUM_SURFACE2D_LAYERED_LAYERS)                         \
  ROW(66, surface_cubemap_width_max, MAXIMUM_SURFACECUBEMAP_WIDTH)                                 \
  ROW(67, surface_cubemap_layered_width_max, MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)                 \
  ROW(68, surface_cubemap_layered_layers_max, MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)               \
  ROW(70, texture_2d_linear_width_max, MAXIMUM_TEXTURE2D_LINEAR_WIDTH)                             \
  ROW(71, texture_2d_linear_height_max, MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)                           \
  ROW(72, texture_2d_linear_pitch_max, MAXIMUM_TEXTURE2D_LINEAR_PITCH)                             \
  ROW(73, texture_2d_mipmapped_width_max, MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)                       \
  ROW(74, texture_2d_mipmapped_height_max, MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)                     \
  ROW(75, capability_major, COMPUTE_CAPABILITY_MAJOR)                                              \
  ROW(76, capability_minor, COMPUTE_CAPABILITY_MINOR)                                              \
  ROW(77, texture_1d_mipmapped_width_max, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)                       \
  ROW(78, stream_priorities, STREAM_PRIORITIES_SUPPORTED)                                          \
  ROW(79, global_l1_cache, GLOBAL_L1_CACHE_SUPPORTED)                                              \
  ROW(80, local_l1_cache, LOCAL_L1_CACHE_SUPPORTED)                                                \
  ROW(81, shared_bytes_per_multiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                   \
  ROW(82, registers_per_multiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                          \
  ROW(83, managed_memory, MANAGED_MEMORY)                                                          \
  ROW(84, multi_gpu_board, MULTI_GPU_BOARD)                                                        \
  ROW(85, multi_gpu_board_group_id, MULTI_GPU_BOARD_GROUP_ID)                                      \
  ROW(86, host_native_atomic, HOST_NATIVE_ATOMIC_SUPPORTED)                                        \
  ROW(87, single_to_double_precision_perf_ratio, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO)            \
  ROW(88, pageable_memory, PAGEABLE_MEMORY_ACCESS)                                                 \
  ROW(89, concurrent_managed_access, CONCURRENT_MANAGED_ACCESS)                                    \
  ROW(90, compute_preemption, COMPUTE_PREEMPTION_SUPPORTED)                                        \
  ROW(91, host_pointer_for_registered_mem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)                \
  ROW(95, cooperative_launch, COOPERATIVE_LAUNCH)                                                  \
  ROW(97, shared_bytes_per_block_optin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                         \
  ROW(98, can_flush_remote_writes, CAN_FLUSH_REMOTE_WRITES)                                        \
  ROW(99, host_register, HOST_REGISTER_SUPPORTED)                                                  \
  ROW(100, pageable_memory_by_host_tables, PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)           \
  ROW(101, direct_managed_mem_access_from_host, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST)               \
  ROW(102, virtual_memory_management, VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED)                        \
  ROW(103, handle_type_posix_file_descriptor, HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)         \
  ROW(106, blocks_per_multiprocessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                               \
  ROW(107, generic_compression, GENERIC_COMPRESSION_SUPPORTED)                                     \
  ROW(108, persisting_l2_bytes, MAX_PERSISTING_L2_CACHE_SIZE)                                      \
  ROW(109, access_policy_window_size_max, MAX_ACCESS_POLICY_WINDOW_SIZE)                           \
  ROW(110, gpu_direct_rdma_with_cuda_vmm, GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)                 \
  ROW(111, shared_bytes_reserved_per_block, RESERVED_SHARED_MEMORY_PER_BLOCK)                      \
  ROW(112, sparse_cuda_array, SPARSE_CUDA_ARRAY_SUPPORTED)                                         \
  ROW(113, read_only_host_register, READ_ONLY_HOST_REGISTER_SUPPORTED)                             \
  ROW(114, timeline_semaphore_interop, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)                       \
  ROW(115, memory_pools, MEMORY_POOLS_SUPPORTED)                                                   \
  ROW(116, gpu_direct_rdma, GPU_DIRECT_RDMA_SUPPORTED)                                             \
  ROW(117, gpu_direct_rdma_flush_writes_options, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)             \
  ROW(118, gpu_direct_rdma_writes_ordering, GPU_DIRECT_RDMA_WRITES_ORDERING)                       \
  ROW(119, mempool_handle_types, MEMPOOL_SUPPORTED_HANDLE_TYPES)                                   \
  ROW(120, cluster_launch, CLUSTER_LAUNCH)                                                         \
  ROW(121, deferred_mapping_cuda_array, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED)                     \
  ROW(122, stream_mem_ops, CAN_USE_64_BIT_STREAM_MEM_OPS)                                          \
  ROW(123, stream_wait_value_nor, CAN_USE_STREAM_WAIT_VALUE_NOR)                                   \
  ROW(124, dma_buf, DMA_BUF_SUPPORTED)                                                             \
  ROW(125, ipc_event, IPC_EVENT_SUPPORTED)                                                         \
  ROW(126, mem_sync_domain_count, MEM_SYNC_DOMAIN_COUNT)                                           \
  ROW(127, tensor_map_access, TENSOR_MAP_ACCESS_SUPPORTED)                                         \
  ROW(128, handle_type_fabric, HANDLE_TYPE_FABRIC_SUPPORTED)                                       \
  ROW(129, unified_function_pointers, UNIFIED_FUNCTION_POINTERS)                                   \
  ROW(130, numa_config, NUMA_CONFIG)                                                               \
  ROW(131, numa_id, NUMA_ID)                                                                       \
  ROW(132, multicast, MULTICAST_SUPPORTED)                                                         \
  ROW(133, mps_enabled, MPS_ENABLED)                                                               \
  ROW(134, host_numa_id, HOST_NUMA_ID)                                                             \
  ROW(135, d3d12_cig, D3D12_CIG_SUPPORTED)                                                         \
  ROW(136, mem_decompress_algorithm_mask, MEM_DECOMPRESS_ALGORITHM_MASK)                           \
  ROW(137, mem_decompress_maximum_length, MEM_DECOMPRESS_MAXIMUM_LENGTH)                           \
  ROW(138, vulkan_cig, VULKAN_CIG_SUPPORTED)                                                       \
  ROW(139, gpu_pci_device_id, GPU_PCI_DEVICE_ID)                                                   \
  ROW(140, gpu_pci_subsystem_id, GPU_PCI_SUBSYSTEM_ID)                                             \
  ROW(141, host_numa_virtual_memory_management, HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)     \
  ROW(142, host_numa_memory_pools, HOST_NUMA_MEMORY_POOLS_SUPPORTED)                               \
  ROW(143, host_numa_multinode_ipc, HOST_NUMA_MULTINODE_IPC_SUPPORTED)                             \
  ROW(144, host_memory_pools, HOST_MEMORY_POOLS_SUPPORTED)                                         \
  ROW(145, host_virtual_memory_management, HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)               \
  ROW(146, host_alloc_dma_buf, HOST_ALLOC_DMA_BUF_SUPPORTED)                                       \
  ROW(147, only_partial_host_native_atomic, ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED)
// clang-format on

struct CudaAttributeName {
  int number;
  const char* name;
};

inline constexpr CudaAttributeName kCudaAttributes[] = {
#define GPUVET_ROW(number, name, theirs) {number, #name},
    GPUVET_CUDA_ATTRIBUTES(GPUVET_ROW)
#undef GPUVET_ROW
};

} // namespace gpuvet
