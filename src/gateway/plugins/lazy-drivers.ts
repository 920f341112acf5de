import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Drivers that are loaded by the first API that uses them: every thread holds its own code. */
export const loadGrpcDriver = (): typeof import('./grpc/grpc-driver.ts') => require('./grpc/grpc-driver.ts');
export const loadTypescriptDriver = (): typeof import('./typescript/typescript-driver.ts') =>
  require('./typescript/typescript-driver.ts');
export const loadTypedRecordHook = (): typeof import('./typescript/typed-record-hook.ts') =>
  require('./typescript/typed-record-hook.ts');
export const loadModuleFiles = (): typeof import('./typescript/module-files.ts') =>
  require('./typescript/module-files.ts');
