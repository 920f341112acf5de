#!/usr/bin/env node
import { useCompiled } from '#base/compiled.ts';

// First of all, so that everything else comes out of it.
useCompiled();
await import('./commands.ts');
