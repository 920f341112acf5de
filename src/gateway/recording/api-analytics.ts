import type { BatchApi } from '#analytics/batch.ts';
import { expandRequirements } from '#definition/security-requirements.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import type { ApiInfo } from '../pipeline/api-info.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { hasSecrets } from '../variables/variables.ts';

/** What of a call may not be written down, since it lets others in. */
export interface CredentialLocations {
  /** Header names, lower-case. */
  readonly headers: ReadonlySet<string>;
  readonly parameters: readonly string[];
  readonly requestBody: boolean;
}

/** Credentials by habit, whatever a definition says. */
const credentialHeaders = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-gw-authorization',
  'admin-auth',
];

/** What an API is to a record: what is known of it once it is loaded. */
type RecordedFields = Pick<ApiInfo, 'id' | 'orgId' | 'name' | 'listenPath' | 'model'>;

/**
 * What is kept about an API at every call: beside it, so that nothing has to be looked up. A class for its fixed shape, and
 * what changes comes first: it lies together.
 */
export class ApiAnalytics {
  /** Its row in what is counted for the metrics, and its place in what is watched of APIs. */
  metricsRow = -1;
  statsTable: object | undefined = undefined;
  statsRow = 0;
  /** The batch and its place in that. */
  batchNumber = -1;
  batchIndex = 0;
  readonly isRecorded: boolean;
  readonly recordsDetail: boolean;
  readonly tagHeaders: readonly string[];
  readonly facts: BatchApi;
  readonly #model: ApiInfo['model'];
  #secrets: CredentialLocations | undefined;

  constructor({ id, orgId, name, listenPath, model }: RecordedFields) {
    const { trafficLogs, gatewayTags, detail } = model;
    const tags = gatewayTags.enabled ? gatewayTags.tags : [];
    this.facts = { id, orgId, name, listenPath, tags, retentionSeconds: trafficLogs.retentionSeconds };
    this.isRecorded = trafficLogs.enabled;
    this.recordsDetail = detail.recording;
    this.tagHeaders = trafficLogs.tagHeaders.map(header => header.toLowerCase());
    this.#model = model;
  }

  /** Needed for those only that are recorded in detail. */
  get secrets(): CredentialLocations {
    this.#secrets ??= findCredentialLocations(this.#model);
    return this.#secrets;
  }
}

function findCredentialLocations(model: ApiInfo['model']): CredentialLocations {
  const places = listCredentialSources(model);
  return {
    headers: new Set([...credentialHeaders, ...places.map(({ header }) => header), ...listSecretHeaders(model)]),
    parameters: places.map(({ query }) => query).filter(Boolean),
    requestBody: model.modes.includes('basic') && expandRequirements(model).some(({ basic }) => basic.extractFromBody),
  };
}

type Options = { readonly add_headers?: unknown } | null | undefined;

/** Headers that are given a secret of the operator on their way. */
function listSecretHeaders({ versions, responseProcessors }: ApiInfo['model']): string[] {
  const changes = versions.flatMap(({ requestHeaders, responseHeaders, endpoints }) => [
    requestHeaders,
    responseHeaders,
    ...endpoints.transformRequestHeaders,
    ...endpoints.transformResponseHeaders,
  ]);
  const injected = responseProcessors.list.map(({ options }) => Object((options as Options)?.add_headers));
  const all = [...changes.map(({ add }) => add), ...injected];
  const names = all.flatMap(add => Object.entries(add).filter(([, value]) => hasSecrets(String(value))));
  return names.map(([name]) => name.toLowerCase());
}

/** An API as recording meets it: compiled by `routing`, with its analytics beside it. */
export interface RecordedApiInfo extends ApiInfo {
  readonly analytics: ApiAnalytics;
}

/** Every API that serves a request was compiled by `routing`. */
export const recordedApiOf = (call: Pick<Exchange, 'api'>): RecordedApiInfo | undefined =>
  call.api as RecordedApiInfo | undefined;
