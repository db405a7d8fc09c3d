#pragma once
#include "gpu/testing/host_kernels.hpp"
