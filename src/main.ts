#!/usr/bin/env node
import { useCompileCache } from '#base/compile-cache.ts';
import { disablePretenuring, exposeCollection } from '#base/v8-flags.ts';

// Before any other import, so that all code comes from the compile cache; its entries depend on the V8 flags.
disablePretenuring();
exposeCollection();
useCompileCache();
await import('./commands.ts');
