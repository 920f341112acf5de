/** What traffic threads and the provider in the main thread say to each other. Plain data: it travels as a copy. */

export const oauthRouteNames = ['authorize', 'authorize-client', 'token', 'revoke', 'revoke-all'] as const;
export type OauthRoute = (typeof oauthRouteNames)[number];

/** What the definition says of the API whose tokens are asked for. */
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
  /** The form, or the query; undefined where it could not be read or says one thing twice. */
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
