import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Parts of a traffic thread that few settings or requests need: every thread holds its own code. */
export const loadTracer = (): typeof import('../tracing/tracer.ts') => require('../tracing/tracer.ts');
export const loadDebugRun = (): typeof import('../inspect/debug/run.ts') => require('../inspect/debug/run.ts');
