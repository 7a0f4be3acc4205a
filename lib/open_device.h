/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Opening the char device. The library and cmx(8) share this file.
 */
#ifndef CMXL_OPEN_DEVICE_H
#define CMXL_OPEN_DEVICE_H

#include <rdma/cmx_ioctl.h>

#define CMXL_DEVICE_PATH "/dev/infiniband/" CMX_DEVICE_NAME
#define CMXL_MODULE_PATH "/sys/module/rdma_cmx"

/*
 * @access: O_RDWR, or O_RDONLY for a file that only lists ids, which is opened during a drain too.
 * Returns the file, or -1 with errno: ENOENT if the module could not be loaded either, ENODEV during a
 * drain.
 */
int cmxl_device_open_file(int access);

#endif
