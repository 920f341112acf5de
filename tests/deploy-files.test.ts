import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createClient } from 'redis';
import { parse, parseAllDocuments } from 'yaml';
import type { z } from 'zod';
import { readSettings, type SettingName, type Settings } from '#base/settings.ts';
import { rejectWeakSecrets } from '#base/weak-secrets.ts';
import { redisServer } from '../tools/services.ts';
import {
  Compose,
  type Deployment,
  Kustomization,
  Manifest,
  type NetworkPolicy,
  type PodDisruptionBudget,
  type Service,
} from './support/deploy-schemas.ts';
import { listContext, parseDockerfile, parseDockerignore } from './support/dockerfile.ts';
import { startServer } from './support/services/server.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const scratch = mkdtempSync(join(tmpdir(), 'gw-deploy-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const gracePeriod = (settings: Settings) => settings['shutdown.delay_seconds'] + settings['shutdown.grace_seconds'];

/** A copy of deploy/ in which the script has generated the secrets. */
function generateSecrets(name: string, kind: 'compose' | 'kubernetes', environment: Record<string, string> = {}) {
  const directory = join(scratch, name);
  cpSync(join(root, 'deploy'), directory, { recursive: true, filter: path => !/secrets(\.env)?$/.test(path) });
  const run = () => {
    const ran = spawnSync('sh', [join(directory, 'generate-secrets.sh'), kind], {
      env: { PATH: process.env.PATH, ...environment },
      encoding: 'utf8',
    });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout;
  };
  run();
  return { directory, run };
}

const parseEnvFile = (text: string) =>
  Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map(line => line.split(/=(.*)/s, 2)),
  ) as Record<string, string>;

describe('Kubernetes manifests', () => {
  const directory = join(root, 'deploy/kubernetes');
  const kustomization = Kustomization.parse(parse(readFileSync(join(directory, 'kustomization.yaml'), 'utf8')));
  const readManifests = (file: string) =>
    parseAllDocuments(readFileSync(join(directory, file), 'utf8')).map(document => {
      assert.deepEqual(document.errors, [], file);
      return Manifest.parse(document.toJS(), { reportInput: true });
    });
  const manifests = kustomization.resources.flatMap(readManifests);
  const ofKind = <K extends string>(kind: K) => manifests.filter(it => it.kind === kind) as unknown[];
  const deployments = ofKind('Deployment') as z.output<typeof Deployment>[];
  const services = ofKind('Service') as z.output<typeof Service>[];
  const budgets = ofKind('PodDisruptionBudget') as z.output<typeof PodDisruptionBudget>[];
  const config = manifests.find(it => it.kind === 'ConfigMap')!.data;
  const { directory: generated, run } = generateSecrets('kubernetes', 'kubernetes', {
    GW_DATABASE_URL: `postgres://gw:${'p'.repeat(40)}@db.example/gw`,
    GW_REDIS_URL: `redis://default:${'r'.repeat(40)}@cache.example:6379`,
  });
  const readSecrets = (root: string) =>
    Object.fromEntries(
      kustomization.secretGenerator.map(({ name, envs }) => [
        name,
        parseEnvFile(readFileSync(join(root, 'kubernetes', envs[0]!), 'utf8')),
      ]),
    );
  const secrets = readSecrets(generated);
  type Container = z.output<typeof Deployment>['spec']['template']['spec']['containers'][number];
  const listSecretNames = ({ envFrom }: Container) =>
    envFrom.flatMap(it => ('secretRef' in it ? [it.secretRef.name] : []));
  const readEnvironment = (container: Container): Record<string, string> =>
    Object.assign({}, ...listSecretNames(container).map(name => secrets[name]));
  const settingsOf = (container: Container) =>
    readSettings({
      environment: {
        ...config,
        ...readEnvironment(container),
        ...Object.fromEntries(container.env.map(it => [it.name, it.value])),
      },
      flags: { role: container.args[2] },
    });

  test('every file is a resource, the template or the list of resources', () => {
    const files = readdirSync(directory).filter(name => name.endsWith('.yaml'));
    assert.deepEqual(files.sort(), [...kustomization.resources, 'kustomization.yaml', 'secret.template.yaml'].sort());
  });

  test('each role has a deployment and a service, with the port of its listener', () => {
    const ports: Record<string, SettingName> = {
      gateway: 'gateway.port',
      dashboard: 'dashboard.port',
      portal: 'portal.port',
    };
    assert.deepEqual(
      deployments.map(it => it.spec.template.spec.containers[0]!.args[2]).sort(),
      Object.keys(ports).sort(),
    );
    for (const { metadata, spec } of deployments) {
      const container = spec.template.spec.containers[0]!;
      const settings = settingsOf(container);
      const port = container.ports[0]!;
      assert.equal(port.containerPort, settings[ports[settings.role]!]);
      const service = services.find(it => it.metadata.name === metadata.name)!;
      assert.deepEqual(service.spec.selector, spec.template.metadata.labels);
      assert.deepEqual(service.spec.ports, [{ name: port.name, port: port.containerPort, targetPort: port.name }]);
      for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe])
        assert.equal(httpGet.port, port.name);
    }
  });

  test('each role has a network policy for its port, and gateway pods reach no management listener', () => {
    const policies = ofKind('NetworkPolicy') as z.output<typeof NetworkPolicy>[];
    for (const { metadata, spec } of deployments) {
      const policy = policies.find(it => it.metadata.name === metadata.name)!;
      assert.deepEqual(policy.spec.podSelector, spec.selector);
      const [rule] = policy.spec.ingress;
      assert.deepEqual(rule!.ports, [{ protocol: 'TCP', port: spec.template.spec.containers[0]!.ports[0]!.name }]);
      const isGateway = spec.template.spec.containers[0]!.args[2] === 'gateway';
      const excluded = rule!.from?.flatMap(({ podSelector }) => podSelector.matchExpressions);
      const component = { key: 'app.kubernetes.io/component', operator: 'NotIn', values: ['gateway'] };
      assert.deepEqual(excluded, isGateway ? undefined : [component]);
    }
  });

  test('settings and secrets are accepted, in production too', () => {
    for (const { spec } of deployments) {
      const settings = settingsOf(spec.template.spec.containers[0]!);
      assert.equal(settings.production, true);
      rejectWeakSecrets(settings);
    }
  });

  test('labels, user, volume and times agree with each other and with the Dockerfile', () => {
    const image = parseDockerfile(read('Dockerfile')).at(-1)!.instructions;
    const user = image.find(it => it.name === 'USER')!.text;
    const volume = image.find(it => it.name === 'VOLUME')!.text;
    for (const { spec } of deployments) {
      const pod = spec.template.spec;
      const container = pod.containers[0]!;
      assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels);
      for (const it of pod.topologySpreadConstraints) assert.deepEqual(it.labelSelector, spec.selector);
      assert.equal(`${pod.securityContext.runAsUser}:${pod.securityContext.runAsGroup}`, user);
      assert.deepEqual(container.volumeMounts, [{ name: pod.volumes[0]!.name, mountPath: volume }]);
      const settings = settingsOf(container);
      assert.ok(pod.terminationGracePeriodSeconds > gracePeriod(settings));
      const { periodSeconds, failureThreshold } = container.readinessProbe;
      assert.ok(settings['shutdown.delay_seconds'] >= periodSeconds * failureThreshold, 'drained before it closes');
    }
  });

  test('a disruption budget leaves room for an eviction', () => {
    for (const { spec } of budgets) {
      const deployment = deployments.find(it => JSON.stringify(it.spec.selector) === JSON.stringify(spec.selector))!;
      assert.ok(deployment.spec.replicas > spec.minAvailable);
    }
    assert.equal(budgets.length, deployments.filter(it => it.spec.replicas > 1).length);
  });

  test('each role has a Secret of its own, with the secrets of its listeners and no other', () => {
    const common = ['GW_DATABASE_URL', 'GW_MASTER_KEY', 'GW_REDIS_URL'];
    const own: Record<string, readonly string[]> = {
      gateway: ['GW_GATEWAY_SECRET'],
      dashboard: ['GW_ADMIN_SECRET', 'GW_BOOTSTRAP_ACCESS_KEY', 'GW_BOOTSTRAP_PASSWORD', 'GW_GATEWAY_SECRET'],
      portal: ['GW_PORTAL_TOKEN'],
    };
    for (const { spec } of deployments) {
      const container = spec.template.spec.containers[0]!;
      const role = container.args[2];
      assert.ok(listSecretNames(container).includes(`gatewright-${role}`), role);
      assert.deepEqual(Object.keys(readEnvironment(container)).sort(), [...common, ...own[role]!].sort(), role);
      assert.equal(settingsOf(container)['bootstrap.enabled'], role === 'dashboard', role);
    }
  });

  test('the secret template has the names that are generated, and no value', () => {
    const templates = readManifests('secret.template.yaml') as { metadata: { name: string }; stringData: object }[];
    const toNames = (given: object) => Object.keys(given).sort();
    assert.deepEqual(
      Object.fromEntries(templates.map(it => [it.metadata.name, toNames(it.stringData)])),
      Object.fromEntries(Object.entries(secrets).map(([name, values]) => [name, toNames(values)])),
    );
  });

  test('generated secrets are random, closed to others, and kept by a second run', () => {
    for (const { envs } of kustomization.secretGenerator)
      assert.equal(statSync(join(generated, 'kubernetes', envs[0]!)).mode & 0o777, 0o600);
    const values = Object.values(secrets).flatMap(it => Object.values(it));
    assert.equal(new Set(values).size, values.length);
    assert.match(run(), /^(kept .*\n){4}$/);
    assert.deepEqual(readSecrets(generated), secrets);
    const other = readSecrets(generateSecrets('kubernetes-again', 'kubernetes').directory);
    assert.notEqual(other.gatewright!.GW_MASTER_KEY, secrets.gatewright!.GW_MASTER_KEY);
  });

  test('the values of a single secrets.env of an earlier release are kept', () => {
    const { directory: root, run: again } = generateSecrets('kubernetes-earlier', 'kubernetes');
    const earlier = readSecrets(root);
    const all = Object.assign({}, ...Object.values(earlier)) as Record<string, string>;
    const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(root, 'kubernetes/secrets.env'), lines.join(''));
    rmSync(join(root, 'kubernetes/secrets'), { recursive: true });
    again();
    assert.deepEqual(readSecrets(root), earlier);
  });
});

describe('compose.yaml', () => {
  const compose = Compose.parse(parse(read('compose.yaml')));
  const { directory, run } = generateSecrets('compose', 'compose');
  const secretsDirectory = join(directory, 'secrets');
  const { gatewright, postgres, redis } = compose.services as Record<
    string,
    NonNullable<(typeof compose.services)[string]>
  >;

  test('the secrets are files that the script generates, once', () => {
    const files = Object.values(compose.secrets)
      .map(({ file }) => file.replace('deploy/secrets/', ''))
      .sort();
    assert.deepEqual(readdirSync(secretsDirectory).sort(), files);
    assert.equal(statSync(secretsDirectory).mode & 0o777, 0o700);
    const texts = files.map(file => readFileSync(join(secretsDirectory, file), 'utf8'));
    assert.match(run(), /^kept /);
    assert.deepEqual(
      files.map(file => readFileSync(join(secretsDirectory, file), 'utf8')),
      texts,
    );
    for (const { secrets } of Object.values(compose.services))
      for (const name of secrets) assert.ok(compose.secrets[name], name);
  });

  test('the generated settings are accepted, in production too, and name the services and their passwords', () => {
    const settings = readSettings({ file: { path: join(secretsDirectory, 'gw.yaml'), required: true } });
    assert.equal(settings.production, true);
    rejectWeakSecrets(settings);
    const database = new URL(settings['database.url']);
    assert.ok(compose.services[database.hostname] && compose.services[new URL(settings['redis.url']).hostname]);
    assert.equal(database.password, readFileSync(join(secretsDirectory, 'postgres_password'), 'utf8'));
    assert.deepEqual(
      [database.username, database.pathname],
      [postgres!.environment!.POSTGRES_USER, `/${postgres!.environment!.POSTGRES_DB}`],
    );
    assert.ok(Number.parseInt(gatewright!.stop_grace_period!, 10) > gracePeriod(settings));
  });

  test('Redis with the generated file requires the password of the settings', async () => {
    const settings = readSettings({ file: { path: join(secretsDirectory, 'gw.yaml'), required: true } });
    const url = new URL(settings['redis.url']);
    const ping = async (address: string) => {
      const client = createClient({ url: address, socket: { reconnectStrategy: false } });
      client.on('error', () => undefined);
      try {
        await client.connect();
        return await client.ping();
      } finally {
        client.destroy();
      }
    };
    const at = (port: number) => {
      url.host = `127.0.0.1:${port}`;
      return url.href;
    };
    const server = await startServer({
      program: redisServer(),
      args: port => [join(secretsDirectory, 'redis.conf'), '--port', String(port), '--bind', '127.0.0.1'],
      answers: port => ping(at(port)),
    });
    try {
      assert.equal(await ping(at(server.port)), 'PONG');
      await assert.rejects(ping(`redis://127.0.0.1:${server.port}`), /NOAUTH/);
    } finally {
      await server.kill();
    }
  });

  test('the product runs read-only and unprivileged, and management is published on loopback alone', () => {
    assert.equal(gatewright!.read_only, true);
    assert.deepEqual([gatewright!.cap_drop, gatewright!.security_opt], [['ALL'], ['no-new-privileges:true']]);
    assert.deepEqual(gatewright!.ports, ['8080:8080', '127.0.0.1:3000:3000', '127.0.0.1:3001:3001']);
    assert.deepEqual([postgres!.ports, redis!.ports], [undefined, undefined]);
    for (const { networks } of [postgres!, redis!]) assert.deepEqual(networks, ['storage']);
    const [volume] = gatewright!.volumes!;
    assert.equal(
      volume,
      `data:${
        parseDockerfile(read('Dockerfile'))
          .at(-1)!
          .instructions.find(it => it.name === 'VOLUME')!.text
      }`,
    );
  });
});

describe('Dockerfile', () => {
  test('the build context has no data, secrets, tests or history', () => {
    const planted = [
      'data/credentials.json',
      'gw.yaml',
      '.env',
      'deploy/secrets/gw.yaml',
      '.git/config',
      'node_modules/x/index.js',
    ];
    const rules = parseDockerignore(read('.dockerignore'));
    const copy = join(scratch, 'context');
    for (const file of [
      ...planted,
      'src/a.ts',
      'src/a.test.ts',
      'src/deep/b.test.ts',
      'bin/gw',
      'tools/warm.ts',
      'tools/test.ts',
    ]) {
      cpSync(join(root, 'LICENSE'), join(copy, file));
    }
    assert.deepEqual(listContext(copy, rules).sort(), ['bin/gw', 'src/a.ts', 'tools/warm.ts']);
  });

  test('both stages have a fixed base, and no instruction takes a secret', () => {
    const stages = parseDockerfile(read('Dockerfile'));
    for (const { from } of stages) assert.match(from, /^[a-z]+:[\w.-]+$/);
    assert.doesNotMatch(read('Dockerfile'), /^\s*(ARG|ADD)\b|secret|password|token|:latest/im);
    const { text } = stages.at(-1)!.instructions.find(it => it.name === 'USER')!;
    assert.match(text, /^[1-9]\d*:[1-9]\d*$/);
  });
});

test('the guide names every file of deploy', () => {
  const guides = globSync('docs/guide/*.md', { cwd: root }).map(read).join('\n');
  for (const file of globSync('deploy/**/*.{sh,service,conf}', { cwd: root })) assert.ok(guides.includes(file), file);
});
