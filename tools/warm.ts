import { keepCompiled, useCompiled } from '../src/base/compiled.ts';
import { keepCallsYoung } from '../src/base/memory.ts';

/** Compiles the program once, after it was installed, so that the first start is as quick as the next: under its flags. */
keepCallsYoung();
useCompiled();
await import('../src/application.ts');
await import('../src/gateway/thread.ts');
keepCompiled();
