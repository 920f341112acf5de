import type { BatchApi } from '#analytics/batch.ts';
import { expandRequirements } from '#definition/security-requirements.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import type { Api } from '../routing/api.ts';
import { hasSecrets } from '../variables/variables.ts';

/** What of a call may not be written down, since it lets others in. */
export interface Secrets {
  /** Header names, lower-case. */
  readonly headers: ReadonlySet<string>;
  readonly parameters: readonly string[];
  readonly requestBody: boolean;
}

/** Credentials by habit, whatever a definition says. */
const secretHeaders = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-gw-authorization',
  'admin-auth',
];

/** What an API is to a record: what is known of it once it is loaded. */
type Recorded = Pick<Api, 'id' | 'orgId' | 'name' | 'listenPath' | 'model'>;

/**
 * What is kept about an API at every call: beside it, so that nothing has to be looked up. A class for its fixed shape, and
 * what changes comes first: it lies together.
 */
export class RecordedApi {
  /** Its row in what is counted for the metrics, and its place in what is watched of APIs. */
  row = -1;
  watched: object | undefined = undefined;
  watchedAt = 0;
  /** The batch and its place in that. */
  batch = -1;
  place = 0;
  readonly tracked: boolean;
  readonly detailed: boolean;
  readonly tagHeaders: readonly string[];
  readonly facts: BatchApi;
  readonly #model: Api['model'];
  #secrets: Secrets | undefined;

  constructor({ id, orgId, name, listenPath, model }: Recorded) {
    const { trafficLogs, gatewayTags, detail } = model;
    const tags = gatewayTags.enabled ? gatewayTags.tags : [];
    this.facts = { id, orgId, name, listenPath, tags, retentionSeconds: trafficLogs.retentionSeconds };
    this.tracked = trafficLogs.enabled;
    this.detailed = detail.recording;
    this.tagHeaders = trafficLogs.tagHeaders.map(header => header.toLowerCase());
    this.#model = model;
  }

  /** Needed for those only that are recorded in detail. */
  get secrets(): Secrets {
    this.#secrets ??= secretsOf(this.#model);
    return this.#secrets;
  }
}

function secretsOf(model: Api['model']): Secrets {
  const places = listCredentialSources(model);
  return {
    headers: new Set([...secretHeaders, ...places.map(({ header }) => header), ...secretlySet(model)]),
    parameters: places.map(({ query }) => query).filter(Boolean),
    requestBody: model.modes.includes('basic') && expandRequirements(model).some(({ basic }) => basic.extractFromBody),
  };
}

type Options = { readonly add_headers?: unknown } | null | undefined;

/** Headers that are given a secret of the operator on their way. */
function secretlySet({ versions, responseProcessors }: Api['model']): string[] {
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
