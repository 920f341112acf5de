/** Middleware of an endpoint, in the order in which the gateway runs it. */
export interface MiddlewareKind {
  /** Member of the operation's settings. */
  readonly name: string;
  readonly phase: 'request' | 'upstream' | 'response';
  /** Settings of a new one. */
  readonly initial: Readonly<Record<string, unknown>>;
}

const on = { enabled: true };

export const middlewareKinds: readonly MiddlewareKind[] = [
  { name: 'trackEndpoint', phase: 'request', initial: on },
  { name: 'doNotTrackEndpoint', phase: 'request', initial: on },
  { name: 'block', phase: 'request', initial: on },
  { name: 'allow', phase: 'request', initial: on },
  { name: 'internal', phase: 'request', initial: on },
  { name: 'requestSizeLimit', phase: 'request', initial: { ...on, value: 1_048_576 } },
  { name: 'ignoreAuthentication', phase: 'request', initial: on },
  { name: 'rateLimit', phase: 'request', initial: { ...on, rate: 100, per: '1m' } },
  { name: 'scopeCheck', phase: 'request', initial: on },
  { name: 'exchange', phase: 'request', initial: on },
  { name: 'validateRequest', phase: 'request', initial: { ...on, errorResponseCode: 422 } },
  { name: 'transformRequestBody', phase: 'request', initial: { ...on, format: 'json' } },
  { name: 'transformRequestHeaders', phase: 'request', initial: on },
  { name: 'urlRewrite', phase: 'request', initial: { ...on, pattern: '.*', rewriteTo: '/' } },
  { name: 'transformRequestMethod', phase: 'request', initial: { ...on, toMethod: 'POST' } },
  { name: 'postPlugins', phase: 'request', initial: on },
  { name: 'virtualEndpoint', phase: 'upstream', initial: on },
  { name: 'mockResponse', phase: 'upstream', initial: { ...on, code: 200, body: '{}' } },
  { name: 'cache', phase: 'upstream', initial: { ...on, timeout: 60 } },
  { name: 'enforceTimeout', phase: 'upstream', initial: { ...on, value: 30 } },
  {
    name: 'circuitBreaker',
    phase: 'upstream',
    initial: { ...on, threshold: 0.5, sampleSize: 10, coolDownPeriod: 30, halfOpenStateEnabled: true },
  },
  { name: 'transformResponseBody', phase: 'response', initial: { ...on, format: 'json' } },
  { name: 'transformResponseHeaders', phase: 'response', initial: on },
];

export const middlewarePhases = ['request', 'upstream', 'response'] as const;
