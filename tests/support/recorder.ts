import { type CallBatch, forEachCall } from '#analytics/batch.ts';
import type { LogEntry } from '#analytics/log-store.ts';
import { toLogEntry } from '#analytics/logged-call.ts';
import type { ThreadReport } from '#analytics/metrics-report.ts';
import { createLog } from '#base/log.ts';
import { readSettings, type SettingName } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import { noBody } from '../../src/gateway/http/body.ts';
import { HeaderList } from '../../src/gateway/http/headers.ts';
import { Exchange } from '../../src/gateway/pipeline/exchange.ts';
import { ApiAnalytics } from '../../src/gateway/recording/api-analytics.ts';
import { createRecorder } from '../../src/gateway/recording/recorder.ts';
import type { Api } from '../../src/gateway/routing/api.ts';

export function openRecorder(
  settings: Partial<Record<SettingName, string>> = {},
  capacity = 8,
  redact = (text: string) => text,
) {
  const reports: ThreadReport[] = [];
  const recorder = createRecorder({
    redact,
    settings: readSettings({ flags: settings }),
    log: createLog({ level: 'error', format: 'json' }),
    post: report => reports.push(report),
    capacity,
  });
  const batches = () => reports.flatMap(({ batch }) => batch ?? []);
  return { recorder, reports, batches };
}

/** As much of an API as a record is about. */
export function recordedApi(definition: Record<string, unknown> = {}): Api {
  const model = classicToModel({
    name: 'Orders',
    api_id: 'orders',
    org_id: 'org',
    use_keyless: true,
    proxy: { listen_path: '/orders/' },
    ...definition,
  });
  const made = { id: 'orders', orgId: 'org', name: 'Orders', listenPath: '/orders/', model };
  return { ...made, analytics: new ApiAnalytics(made) } as Api;
}

export function recordedApiWithId(id: string): Api {
  const made = { ...recordedApi(), id };
  return { ...made, analytics: new ApiAnalytics(made) };
}

export function recordedCall(given: Partial<Exchange> = {}, headers: string[] = []): Exchange {
  const made = new Exchange({
    method: 'GET',
    target: '/orders/1?token=hidden',
    path: '/orders/1',
    query: 'token=hidden',
    host: 'localhost',
    headers: new HeaderList(headers),
    body: given.body ?? noBody(),
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
    clientAddress: '10.0.0.7',
    receivedAtMs: Date.UTC(2026, 1, 3, 12),
    startedAt: performance.now(),
  } as ConstructorParameters<typeof Exchange>[0]);
  const { body: _, ...rest } = given;
  return Object.assign(made, { innerPath: '/1', api: recordedApi(), status: 200 }, rest);
}

export function listLogged(batches: readonly CallBatch[], retentionMs = 0): LogEntry['call'][] {
  const found: LogEntry['call'][] = [];
  for (const batch of batches) forEachCall(batch, record => found.push(toLogEntry(record, retentionMs).call));
  return found;
}

export function recordOne(it: Exchange, settings: Partial<Record<SettingName, string>> = {}, complete = true) {
  const { recorder, batches } = openRecorder(settings);
  recorder.record(it, complete);
  recorder.close();
  return listLogged(batches())[0];
}

export const decodeBase64 = (base64: string) => Buffer.from(base64, 'base64').toString();
