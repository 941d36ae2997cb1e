/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise floors on stdout. */
#pragma once
#include "lab/verdict/noise.h"

/** noise_print() - a table, or JSON */
void noise_print(const LabNoise *noise, gboolean json);
