#!/usr/bin/env node
import { useCompileCache } from '#base/compile-cache.ts';
import { disablePretenuring } from '#base/v8-flags.ts';

// First of all, so that everything else comes out of it; what was compiled is good for the same flags only.
disablePretenuring();
useCompileCache();
await import('./commands.ts');
