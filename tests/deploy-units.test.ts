import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { readSettings } from '#base/settings.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'gw-units-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

describe('systemd unit', () => {
  const unit = read('deploy/systemd/gatewright.service');
  const known: Readonly<Record<string, RegExp>> = {
    Unit: /^(Description|Documentation|Wants|After)$/,
    Service: new RegExp(
      `^(${[
        'Type|User|Group|LoadCredential|Environment|ExecStart|WorkingDirectory|UMask|LimitNOFILE',
        '(State|Cache|Logs)Directory(Mode)?|TimeoutStopSec|KillMode|Restart|RestartSec|RemoveIPC|LockPersonality',
        'CapabilityBoundingSet|AmbientCapabilities|NoNewPrivileges|SystemCall(Architectures|Filter|ErrorNumber)',
        'Protect(System|Home|Proc|Clock|ControlGroups|Hostname|KernelLogs|KernelModules|KernelTunables)',
        'Private(Devices|Tmp)|Restrict(AddressFamilies|Namespaces|Realtime|SUIDSGID)',
      ].join('|')})$`,
    ),
    Install: /^WantedBy$/,
  };

  test('sections and names are those of systemd', () => {
    let section = '';
    for (const line of unit.split('\n').filter(it => it !== '' && !it.startsWith('#'))) {
      const header = /^\[(\w+)\]$/.exec(line);
      if (header) section = header[1]!;
      else assert.match(/^(\w+)=/.exec(line)?.[1] ?? line, known[section]!, `${section}: ${line}`);
    }
    const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
    const settings = readSettings({});
    assert.ok(stopSeconds > settings['shutdown.delay_seconds'] + settings['shutdown.grace_seconds']);
  });

  test('systemd-analyze verify accepts it, where it is installed', () => {
    const program = '/usr/bin/systemd-analyze';
    const file = join(scratch, 'gatewright.service');
    // The program is here, not where the guide installs it.
    writeFileSync(file, unit.replaceAll('/opt/gatewright', root));
    if (!existsSync(program)) return assert.ok(unit.includes('ExecStart=/opt/gatewright/bin/gw start'));
    const { status, stderr } = spawnSync(program, ['verify', '--man=no', file], { encoding: 'utf8' });
    const own = stderr.split('\n').filter(line => line.includes('gatewright.service'));
    assert.deepEqual(own, [], stderr);
    assert.equal(status, 0, stderr);
  });
});

test('the nginx example has balanced blocks and complete directives', () => {
  const lines = read('deploy/nginx/management.conf')
    .split('\n')
    .map(line => line.trim());
  let depth = 0;
  for (const line of lines.filter(it => it !== '' && !it.startsWith('#'))) {
    assert.match(line, /[;{}]$/, line);
    if (line.endsWith('{')) depth++;
    if (line === '}') depth--;
    assert.ok(depth >= 0, line);
  }
  assert.equal(depth, 0);
});
