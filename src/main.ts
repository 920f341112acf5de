#!/usr/bin/env node
import { useCompiled } from '#base/compiled.ts';
import { keepCallsYoung } from '#base/memory.ts';

// First of all, so that everything else comes out of it.
useCompiled();
keepCallsYoung();
await import('./commands.ts');
