import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './gateway.ts';

/**
 * Measures `gw apply`, `gw diff` and `gw export` of a large directory: creation of everything, a diff and an apply of
 * nothing, a change of one object, and an export. `BENCH_SCALE=0.01` takes a hundredth of the objects.
 */
const ports = { gateway: 18_190, dashboard: 18_191, portal: 18_192 };
const scale = Number(process.env.BENCH_SCALE ?? 1);
const count = Math.ceil(10_000 * scale);

const directory = mkdtempSync(join(tmpdir(), 'gw-bench-'));
const files = join(directory, 'files');
const gateway = await startGateway(join(directory, 'data'), ports, '0', 1);
try {
  writeFiles();
  const exported = join(directory, 'exported');
  measure('apply, everything new', ['apply', files]);
  measure('diff, nothing changed, files written by hand', ['diff', files]);
  measure('export', ['export', exported]);
  measure('diff, nothing changed, exported files', ['diff', exported]);
  measure('apply, nothing changed, exported files', ['apply', exported]);
  writePolicy(exported, 0, 77);
  measure('diff, one policy changed', ['diff', exported], 2);
  measure('apply, one policy changed', ['apply', exported]);
} finally {
  await gateway.stop();
  rmSync(directory, { recursive: true, force: true });
}

function writeFiles(): void {
  for (const folder of ['apis', 'policies']) mkdirSync(join(files, folder), { recursive: true });
  for (let n = 0; n < count; n++) {
    const definition = {
      name: `Service ${n}`,
      active: true,
      use_keyless: n % 2 === 0,
      proxy: { listen_path: `/api${n}/`, target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
      version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
    };
    const api = { kind: 'api', id: `api${n}`, spec: { format: 'classic', definition } };
    writeFileSync(join(files, `apis/api${n}.yaml`), JSON.stringify(api, null, 1));
    writePolicy(files, n, 10);
  }
}

function writePolicy(folder: string, n: number, rate: number): void {
  const access_rights = { [`api${n}`]: { api_id: `api${n}`, versions: ['Default'] } };
  const policy = { kind: 'policy', id: `policy${n}`, spec: { name: `Policy ${n}`, rate, per: 60, access_rights } };
  writeFileSync(join(folder, `policies/policy${n}.yaml`), JSON.stringify(policy, null, 1));
}

function measure(title: string, args: readonly string[], expectedCode = 0): void {
  const started = performance.now();
  const program = join(import.meta.dirname, '../src/main.ts');
  const command = [program, ...args, '--data-dir', join(directory, 'data')];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', maxBuffer: 1 << 28 });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (status !== expectedCode) throw new Error(`gw ${args.join(' ')} ended with ${status}: ${stderr}`);
  console.log(`${title.padEnd(48)} ${seconds.padStart(7)} s   ${stdout.trimEnd().split('\n').at(-1)}`);
}
