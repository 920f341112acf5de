import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { startApp, type TestApp } from './support/app.ts';
import { groupSpans, listDecodedMetrics, startCollector, type TestCollector, toAttributes } from './support/otlp.ts';
import { openApi, publish } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';
import { handling, startReceiver, webhook } from './support/webhooks.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const client = 'b7ad6b7169203331';
const readTraceId = (upstream: Upstream) => String(upstream.requests.at(-1)!.headers.traceparent).split('-')[1]!;

describe('Trace export', () => {
  let app: TestApp;
  let upstream: Upstream;
  let collector: TestCollector;
  before(async () => {
    [upstream, collector] = await Promise.all([startUpstream(), startCollector()]);
    app = await startApp('sqlite', {
      settings: {
        'tracing.endpoint': collector.url,
        'tracing.interval_ms': '10',
        'tracing.headers': JSON.stringify({ Authorization: 'Bearer canary-collector' }),
        'tracing.service_name': 'edge',
        'tracing.record_query': 'true',
        'metrics.otlp.endpoint': collector.url,
        'metrics.otlp.interval_seconds': '1',
        'metrics.otlp.headers': JSON.stringify({ 'X-Key': 'canary-metrics' }),
        'log.level': 'debug',
      },
    });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    await collector?.close();
  });

  /** Spans of a trace once its server span has arrived: it comes with all others. */
  const findTrace = (traceId: string) =>
    eventually(() => {
      const found = groupSpans(collector.spans(), traceId);
      assert.ok(found.server, traceId);
      return { ...found, server: found.server };
    });

  test('a request has a server span and a client span, whose id the upstream gets as its parent', async () => {
    const definition = openApi(upstream);
    const url = await publish(app, definition);
    const headers = { traceparent: `00-${trace}-${client}-01`, tracestate: 'a=b', authorization: 'Bearer canary-key' };
    assert.equal((await fetch(`${url}/orders/7?token=canary-query`, { headers })).status, 200);
    const { server, clients, steps } = await findTrace(trace);
    assert.equal(clients.length, 1);
    const [sent] = clients;
    const received = upstream.requests.at(-1)!;
    assert.equal(received.headers.traceparent, `00-${trace}-${sent!.spanId}-01`);
    assert.equal(received.headers.tracestate, 'a=b');
    assert.deepEqual([server.parentSpanId, sent!.parentSpanId, steps], [client, server.spanId, []]);
    assert.ok(BigInt(server.startTimeUnixNano) <= BigInt(sent!.startTimeUnixNano));
    assert.ok(BigInt(sent!.startTimeUnixNano) <= BigInt(sent!.endTimeUnixNano));
    assert.ok(BigInt(sent!.endTimeUnixNano) <= BigInt(server.endTimeUnixNano));
    const { listen_path } = definition.proxy;
    assert.deepEqual(
      [server.name, server.traceState, server.status, sent!.name],
      [`GET ${listen_path}`, 'a=b', undefined, 'GET'],
    );
    const attributes = toAttributes(server.attributes);
    assert.deepEqual(
      [attributes['url.path'], attributes['gw.api.id'], attributes['http.response.status_code']],
      [`${listen_path}/orders/7`, definition.api_id, 200],
    );
    const target = toAttributes(sent!.attributes);
    assert.deepEqual(
      [target['url.full'], target['server.port'], target['http.response.status_code']],
      [`${upstream.url}/orders/7`, upstream.port, 200],
    );
    assert.doesNotMatch(JSON.stringify(collector.requests.map(({ body }) => body)), /canary/);
  });

  test('the resource has the name, the release and the id of the process, and requests the headers of the settings', async () => {
    await fetch(app.url.gateway);
    await eventually(() => assert.ok(collector.spans().length > 0));
    const { headers, body } = collector.requests.find(({ path }) => path === '/v1/traces')!;
    assert.equal(headers.authorization, 'Bearer canary-collector');
    const [{ resource }] = body.resourceSpans as [{ resource: { attributes: never[] } }];
    const { 'service.name': name, ...rest } = toAttributes(resource.attributes);
    assert.equal(name, 'edge');
    assert.deepEqual(Object.keys(rest), ['service.version', 'service.instance.id']);
    assert.match(String(rest['service.instance.id']), /^[0-9a-f]{32}$/);
  });

  test('record, explanation and trace have the same id', async () => {
    const definition = openApi(upstream, { enable_context_vars: true });
    const url = await publish(app, definition);
    const reply = await fetch(url, { headers: { 'x-gw-explain': app.credentials.gateway_secret } });
    const traceId = readTraceId(upstream);
    assert.equal(JSON.parse(reply.headers.get('x-gw-explanation')!).trace_id, traceId);
    await findTrace(traceId);
    await eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`);
      assert.deepEqual(
        body.data.map(({ tags }: { tags: string[] }) => tags.filter(it => it.startsWith('trace-id-'))),
        [[`trace-id-${traceId}`]],
      );
    });
  });

  test('requests without a route, refused and failed ones have a server span with their reason', async () => {
    const closed = await startUpstream();
    await closed.close();
    const send = async (url: string, id: string) => {
      const { status } = await fetch(url, { headers: { traceparent: `00-${id}-${client}-01` } });
      const { server, clients } = await findTrace(id);
      const { 'http.response.status_code': code, 'gw.refusal': refusal } = toAttributes(server.attributes);
      assert.equal(code, status);
      return { server, clients, status, refusal };
    };
    const missing = await send(`${app.url.gateway}/nowhere`, `${trace.slice(0, -1)}1`);
    assert.deepEqual([missing.server.name, missing.status, missing.refusal], ['GET', 404, 'route_unknown']);
    const keyed = openApi(upstream, { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } });
    const refused = await send(await publish(app, keyed), `${trace.slice(0, -1)}2`);
    assert.deepEqual([refused.refusal, refused.clients, refused.server.status], ['auth_field_missing', [], undefined]);
    const failed = await send(await publish(app, openApi(closed)), `${trace.slice(0, -1)}3`);
    assert.deepEqual(
      [failed.clients.length, failed.clients[0]?.status, failed.server.status?.code],
      [1, { code: 2 }, 2],
    );
    const attributes = toAttributes(failed.clients[0]!.attributes);
    assert.deepEqual(
      [attributes['http.response.status_code'], attributes['error.type']],
      [undefined, 'connection_refused'],
    );
    assert.match(String(attributes['gw.upstream_error']), /^connection_refused: /);
  });

  test('a response that breaks off has an error status, and one that the client leaves has none', async t => {
    const broken = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('part', () => response.destroy());
    });
    const waiting = createServer((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('part');
    });
    const toUpstream = async (server: Server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      t.after(() => server.close().closeAllConnections());
      return openApi({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    };
    const sendTo = async (server: Server, id: string, signal = AbortSignal.timeout(30_000)) => {
      const headers = { traceparent: `00-${id}-${client}-01` };
      return fetch(await publish(app, await toUpstream(server)), { headers, signal });
    };
    const brokenId = `${trace.slice(0, -1)}8`;
    await assert.rejects((await sendTo(broken, brokenId)).text());
    const { server, clients } = await findTrace(brokenId);
    const { 'http.response.status_code': status, 'error.type': error } = toAttributes(server.attributes);
    assert.deepEqual([status, server.status?.code, clients[0]?.status?.code], [200, 2, 2]);
    assert.equal(error, 'upstream_failed');
    const leave = new AbortController();
    const leftId = `${trace.slice(0, -1)}9`;
    const left = await sendTo(waiting, leftId, leave.signal);
    leave.abort();
    await assert.rejects(left.text());
    assert.equal((await findTrace(leftId)).server.status, undefined);
  });

  test('detailed tracing gives every step a span', async () => {
    const classic = openApi(upstream, { detailed_tracing: true, enable_context_vars: true });
    const url = await publish(app, classic);
    await fetch(url, { headers: { traceparent: `00-${trace.slice(0, -1)}4-${client}-01` } });
    const { steps, server } = await findTrace(`${trace.slice(0, -1)}4`);
    const names = steps.map(({ name }) => name);
    assert.ok(names.includes('step tracing') && names.includes('step context-variables'), names.join());
    assert.ok(steps.every(({ parentSpanId }) => parentSpanId === server.spanId));
  });

  test('a step that waits has a span without detailed tracing', async () => {
    const slow = await startUpstream();
    slow.answer = (_request, response) =>
      void setTimeout(() => response.setHeader('content-type', 'application/json').end('{"active":false}'), 20);
    const definition = openApi(upstream, {
      use_keyless: false,
      external_oauth: {
        enabled: true,
        providers: [{ introspection: { enabled: true, url: slow.url, client_id: 'c', client_secret: 's' } }],
      },
    });
    const url = await publish(app, definition);
    const id = `${trace.slice(0, -1)}5`;
    await fetch(url, { headers: { traceparent: `00-${id}-${client}-01`, authorization: 'Bearer unknown-token' } });
    const { steps } = await findTrace(id);
    await slow.close();
    assert.deepEqual(
      steps.map(({ name }) => name),
      ['step external-oauth'],
    );
  });

  test('a webhook that a request caused has a span with a link to it, without the URL', async () => {
    const receiver = await startReceiver();
    const handlers = handling('AuthFailure', webhook(`${receiver.url}/canary-path`));
    const url = await publish(app, openApi(upstream, { use_keyless: false, ...handlers }));
    const id = `${trace.slice(0, -1)}6`;
    const headers = { traceparent: `00-${id}-${client}-01`, authorization: 'unknown' };
    assert.equal((await fetch(url, { headers })).status, 403);
    const [call] = await receiver.take('/canary-path');
    const { server } = await findTrace(id);
    const span = await eventually(() => {
      const found = collector.spans().find(({ name }) => name === 'webhook AuthFailure');
      assert.ok(found);
      return found;
    });
    await receiver.close();
    assert.deepEqual(span.links, [{ traceId: id, spanId: server.spanId }]);
    assert.equal(call!.headers.traceparent, `00-${span.traceId}-${span.spanId}-01`);
    const attributes = toAttributes(span.attributes);
    assert.deepEqual(
      [span.kind, attributes['http.response.status_code'], attributes['gw.event']],
      [3, 200, 'AuthFailure'],
    );
    assert.equal(attributes['gw.delivery.id'], call!.headers['x-gw-delivery']);
    assert.doesNotMatch(JSON.stringify(span), /canary/);
  });

  const readMetrics = async () => {
    const { text } = await app.ask('GET', '/metrics', { headers: { 'admin-auth': app.credentials.admin_secret } });
    return text;
  };

  test('the counters of spans are in the metrics', async () => {
    await eventually(async () => {
      const text = await readMetrics();
      assert.match(text, /^gw_spans_exported_total [1-9]\d*$/m);
      assert.match(text, /^gw_spans_dropped_total\{where="collector"\} 0$/m);
    });
  });

  test('metrics.otlp: all metrics of the exposition are pushed on an interval, with the headers of the setting', async () => {
    const definition = openApi(upstream);
    await fetch(await publish(app, definition));
    await eventually(() => {
      const request = collector.requests.findLast(({ path }) => path === '/v1/metrics');
      const metrics = listDecodedMetrics(request?.body ?? {});
      const requests = metrics.find(({ name }) => name === 'gw_requests_total')?.sum;
      const own = requests?.dataPoints.find(it => toAttributes(it.attributes).api === definition.api_id);
      assert.deepEqual([own?.asDouble, requests?.aggregationTemporality], [1, 2]);
      assert.ok(metrics.some(({ name, histogram }) => name === 'gw_request_duration_seconds' && histogram));
      assert.equal(request!.headers['x-key'], 'canary-metrics');
    });
    assert.match(await readMetrics(), /^gw_metric_points_exported_total [1-9]\d*$/m);
  });

  test('every metric of the dashboards and alert rules is in the exposition', async () => {
    const known = new Set(['up']);
    await eventually(async () => {
      const text = await readMetrics();
      for (const [, name, type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
        for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) known.add(name! + suffix);
      for (const { file, name } of listUsedMetrics()) assert.ok(known.has(name), `${file}: ${name}`);
    });
  });

  test('the end of the process sends what is left', async () => {
    const own = await startCollector();
    const second = await startApp('sqlite', {
      settings: {
        'tracing.endpoint': `${own.url}/v1/traces`,
        'tracing.interval_ms': '60000',
        'tracing.protocol': 'json',
        'tracing.gzip': 'true',
        'metrics.otlp.endpoint': `${own.url}/otlp/v1/metrics`,
        'metrics.otlp.interval_seconds': '3600',
        'metrics.otlp.protocol': 'json',
        'metrics.otlp.gzip': 'true',
        'metrics.otlp.temporality': 'delta',
      },
    });
    const url = await publish(second, openApi(upstream));
    await fetch(url);
    const traceId = readTraceId(upstream);
    assert.equal(own.requests.length, 0);
    await second.close();
    const { server, clients } = groupSpans(own.spans(), traceId);
    assert.deepEqual([server?.kind, clients.length], [2, 1]);
    assert.deepEqual(own.requests.map(({ path }) => path).sort(), ['/otlp/v1/metrics', '/v1/traces']);
    for (const { headers } of own.requests)
      assert.deepEqual([headers['content-type'], headers['content-encoding']], ['application/json', 'gzip']);
    const metrics = own.requests.flatMap(({ body }) => listDecodedMetrics(body));
    assert.equal(metrics.find(({ name }) => name === 'gw_records_total')?.sum?.aggregationTemporality, 1);
    await own.close();
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly gridPos: { readonly w: number };
    readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
  }[];
}

const readDeployed = (path: string) => readFileSync(new URL(`../deploy/${path}`, import.meta.url), 'utf8');
const dashboards = readdirSync(new URL('../deploy/grafana', import.meta.url)).filter(name => name.endsWith('.json'));
const readDashboard = (name: string): Dashboard => JSON.parse(readDeployed(`grafana/${name}`));
const readRules = (): Rule[] =>
  (parse(readDeployed('prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(it => it.rules);

/** Names of metrics in the expressions of all dashboards and rules. */
function listUsedMetrics(): { file: string; name: string }[] {
  const expressions = dashboards.flatMap(file => {
    const { panels, templating } = readDashboard(file);
    const texts = [
      ...panels.flatMap(it => it.targets ?? []).map(it => it.expr),
      ...templating.list.map(it => it.definition),
    ];
    return texts.map(text => ({ file, text: text ?? '' }));
  });
  const all = [...expressions, ...readRules().map(({ alert, expr }) => ({ file: alert, text: expr }))];
  return all.flatMap(({ file, text }) =>
    [...text.matchAll(/\b(?:gw|process)_[a-z_]+|\bup\b/g)].map(([name]) => ({ file, name })),
  );
}

describe('Dashboards and alert rules', () => {
  test('a dashboard has the members that Grafana requires, and panels with distinct ids and expressions', () => {
    assert.deepEqual(dashboards.sort(), ['api.json', 'control-plane.json', 'overview.json']);
    const uids = dashboards.map(name => readDashboard(name).uid);
    assert.equal(new Set(uids).size, uids.length);
    for (const name of dashboards) {
      const { title, schemaVersion, panels, templating } = readDashboard(name);
      assert.match(title, /^Gatewright: /);
      assert.ok(schemaVersion >= 36);
      assert.ok(templating.list.some(it => it.name === 'datasource'));
      assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, name);
      for (const { type, title: panel, targets = [], gridPos } of panels) {
        assert.ok(gridPos.w > 0 && gridPos.w <= 24, panel);
        if (type !== 'row') assert.ok(targets.length > 0 && targets.every(({ expr }) => expr !== ''), panel);
      }
    }
  });

  test('an alert rule has a name of its own, an expression, a severity and a summary', () => {
    const rules = readRules();
    assert.ok(rules.length >= 10);
    assert.equal(new Set(rules.map(({ alert }) => alert)).size, rules.length);
    for (const { alert, expr, labels, annotations } of rules) {
      assert.match(alert, /^Gatewright[A-Z]\w+$/);
      assert.ok(expr.trim() !== '' && annotations.summary !== '', alert);
      assert.match(labels.severity, /^(warning|critical)$/);
    }
  });

  test('the metrics of dashboards and rules are found in their expressions', () => {
    const names = new Set(listUsedMetrics().map(({ name }) => name));
    for (const name of ['gw_requests_total', 'gw_request_duration_seconds_bucket', 'up']) assert.ok(names.has(name));
  });
});
