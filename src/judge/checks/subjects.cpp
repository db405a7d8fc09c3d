#include "judge/checks/subjects.hpp"

namespace gpuvet {

const std::vector<CheckCode>& check_functions() {
  static const std::vector<CheckCode> all = [] {
    std::vector<CheckCode> list;
    for (const CheckList& subject : {driver_checks(),
                                     device_checks(),
                                     hardware_checks(),
                                     fabric_checks(),
                                     cuda_checks(),
                                     cuda_version_checks(),
                                     mps_checks(),
                                     loader_checks(),
                                     loader_setting_checks(),
                                     library_checks(),
                                     cudnn_checks(),
                                     toolkit_checks(),
                                     compiler_checks(),
                                     repository_checks(),
                                     python_checks(),
                                     python_pair_checks(),
                                     code_checks(),
                                     environment_checks(),
                                     passed_on_checks(),
                                     framework_variable_checks(),
                                     container_checks(),
                                     container_image_checks(),
                                     container_host_checks(),
                                     cdi_checks(),
                                     cluster_checks(),
                                     platform_checks(),
                                     cloud_checks(),
                                     network_checks(),
                                     peer_traffic_checks(),
                                     process_checks()})
      list.insert(list.end(), subject.begin(), subject.end());
    return list;
  }();
  return all;
}

} // namespace gpuvet
