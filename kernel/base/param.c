// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Module parameters with a range. A value out of range is refused when it is set, both at load time
 * and later.
 */
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/sysfs.h>
#include "param.h"

/**
 * cmx_param_parse() - parse the text of a parameter and check its range
 * @text: a number, decimal, hexadecimal or octal
 * @min: lowest value
 * @max: highest value
 * @val: receives the value; unchanged on error
 *
 * Return: 0, or -EINVAL if @text is not a number or not in the range.
 */
int cmx_param_parse(const char *text, unsigned int min, unsigned int max, unsigned int *val)
{
	unsigned int parsed;

	if (kstrtouint(text, 0, &parsed) || parsed < min || parsed > max)
		return -EINVAL;
	*val = parsed;
	return 0;
}

static int param_set(const char *text, const struct kernel_param *kp)
{
	struct cmx_param *param = kp->arg;
	unsigned int val;
	int ret;

	ret = cmx_param_parse(text, param->min, param->max, &val);
	if (!ret)
		WRITE_ONCE(param->val, val);
	return ret;
}

static int param_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%u\n", cmx_param_get(kp->arg));
}

const struct kernel_param_ops cmx_param_ops = {
	.set = param_set,
	.get = param_get,
};
