# What pbr needs beside setup.cfg, where all the metadata is.
import setuptools

setuptools.setup(setup_requires=["pbr>=6.0.0"], pbr=True)
