#!/usr/bin/env node
import { useCompiled } from '#base/compiled.ts';
import { keepCallsYoung } from '#base/memory.ts';

// First of all, so that everything else comes out of it; what was compiled is good for the same flags only.
keepCallsYoung();
useCompiled();
await import('./commands.ts');
