# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For Documentation/htmldocs, which says where the kernel's source package is unpacked.
import os
import sys

kernel = os.environ['CMX_KERNELDOC']
sys.path.insert(0, kernel + '/Documentation/sphinx')

project = 'rdma-cmx'
extensions = ['kerneldoc']
html_theme = 'alabaster'
html_copy_source = False
html_theme_options = {'page_width': '70em'}
exclude_patterns = ['man', 'examples']
highlight_language = 'none'
primary_domain = 'c'
# the kernel's types have no page here
nitpicky = False
c_id_attributes = ['__user', '__must_check', '__rcu', 'RDMA_CMX_FUNCTION']

kerneldoc_bin = kernel + '/scripts/kernel-doc'
kerneldoc_srctree = os.path.abspath('..')
kerneldoc_verbosity = 1
