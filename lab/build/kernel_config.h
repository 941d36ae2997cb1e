/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's .config. Internal to lab/build. */
#pragma once
#include "lab/build/kernel.h"

/**
 * lab_kernel_config() - how an option is set
 * @option: without CONFIG_
 *
 * Return: 'y', 'm', 'n' (not set, or not there), '?' (this kernel has no known config).
 */
char lab_kernel_config(const LabKernel *kernel, const char *option);
