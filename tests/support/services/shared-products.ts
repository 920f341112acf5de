import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type EngineName, engines } from './engines.ts';

/** Environment variable with the address and the credentials of the product that a run shares, per engine. */
export const sharedProductVariable = (engine: EngineName) => `GW_TEST_PRODUCT_${engine.toUpperCase()}`;

export interface SharedProducts {
  readonly env: Record<string, string>;
  /** Ends the products; returns a complaint for each that a test file has written to, or that failed. */
  stop(): Promise<string[]>;
}

const program = fileURLToPath(new URL('shared-product.ts', import.meta.url));

/** Starts one product per engine for all test files of a run that only read. */
export async function startSharedProducts(env: Record<string, string>): Promise<SharedProducts> {
  const started = await Promise.all(engines.map(engine => startSharedProduct(engine, env)));
  return {
    env: Object.fromEntries(started.map(({ engine, access }) => [sharedProductVariable(engine), access])),
    stop: async () => (await Promise.all(started.map(product => product.stop()))).filter(text => text !== ''),
  };
}

async function startSharedProduct(engine: EngineName, env: Record<string, string>) {
  const child = spawn(process.execPath, ['--no-warnings', program, engine], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line');
  const access = await Promise.race([
    line,
    exit.then(([code]) => Promise.reject(new Error(`exit code ${code}`))),
  ]).catch((error: Error) => {
    throw new Error(`The shared product (${engine}) did not start: ${error.message}`);
  });
  return {
    engine,
    access: String(access[0]),
    async stop() {
      child.stdin.end();
      const [code, signal] = await exit;
      return code === 0 ? '' : `The shared product (${engine}) ended with ${signal ?? `exit code ${code}`}.`;
    },
  };
}
