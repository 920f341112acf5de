/** RPC messages between traffic threads and the provider in the main thread: structured-cloned plain data. */

const oauthRouteNames = ['authorize', 'authorize-client', 'token', 'revoke', 'revoke-all'] as const;
export type OauthRoute = (typeof oauthRouteNames)[number];

/** OAuth settings of an API. */
export interface ProviderSettings {
  readonly apiId: string;
  readonly orgId: string;
  readonly authorizeTypes: readonly string[];
  readonly grants: readonly string[];
  readonly loginUrl: string;
  readonly notifyUrl: string;
  readonly notifySecret: string;
}

export type Parameters = Readonly<Record<string, string>>;

export interface OauthRequest {
  readonly route: OauthRoute;
  readonly method: string;
  readonly provider: ProviderSettings;
  /** Form or query; undefined where it is malformed or has repeated parameters. */
  readonly parameters: Parameters | undefined;
  readonly query: string;
  readonly authorization: string;
  readonly gatewaySecret: string;
  readonly clientAddress: string;
}

export interface OauthResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
