/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef CMX_PARAM_H
#define CMX_PARAM_H

#include <linux/compiler.h>
#include <linux/moduleparam.h>
#include <linux/stringify.h>

/**
 * struct cmx_param - a module parameter with a range
 * @val: value, for cmx_param_get()
 * @min: lowest value
 * @max: highest value
 */
struct cmx_param {
	unsigned int val;
	unsigned int min;
	unsigned int max;
};

extern const struct kernel_param_ops cmx_param_ops;

/*
 * Define a module parameter. @text describes it and names the unit. The macro appends the range and
 * the default.
 */
#define CMX_PARAM(name, min, max, def, text)				\
	static struct cmx_param name = { def, min, max };		\
	module_param_cb(name, &cmx_param_ops, &name, 0644);		\
	MODULE_PARM_DESC(name, text ": " __stringify(min) ".." __stringify(max)	\
			 " (" __stringify(def) ")")

static inline unsigned int cmx_param_get(const struct cmx_param *param)
{
	return READ_ONCE(param->val);
}

int cmx_param_parse(const char *text, unsigned int min, unsigned int max, unsigned int *val);

#endif
