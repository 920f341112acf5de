#!/usr/bin/env node
import { useCompiled } from '#base/compile-cache.ts';
import { keepCallsYoung } from '#base/v8-flags.ts';

// First of all, so that everything else comes out of it; what was compiled is good for the same flags only.
keepCallsYoung();
useCompiled();
await import('./commands.ts');
