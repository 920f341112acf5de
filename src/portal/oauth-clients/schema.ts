/** OAuth client that the portal registered at an identity provider, for an app or to test the connection. */
export interface StoredOauthClient {
  ID: number;
  /** App that uses it; 0 for one that tests a connection. */
  AppID: number;
  OauthProviderID: number;
  /** 0 for one that tests a connection. */
  ClientTypeID: number;
  /** All access requests of the app with the client type use it; false for that of a custom credential. */
  IsShared: boolean;
  /** Empty until the identity provider has registered it. */
  ClientID: string;
  /** Empty for a public client. */
  ClientSecret: string;
  /** Address at which the client is changed and deleted (RFC 7592); empty where the provider gave none. */
  RegistrationURI: string;
  RegistrationToken: string;
  /** Response of the registration, as text. */
  Response: string;
  /** Scopes of the last change, separated by spaces. */
  Scope: string;
  RedirectURIs: string[];
  /** Page of the portal to which its users are sent back from a sign-in for a call; absent until the first one. */
  PortalRedirectURI?: string;
  /** As the provider registered them, separated by commas. */
  GrantType: string;
  ResponseType: string;
  AuthMethod: string;
  JwksURI: string;
  TokenEndpoint: string;
  AuthorizationEndpoint: string;
  CreatedAt: number;
  UpdatedAt: number;
}

/** Members that a registration fills. */
export const unregisteredClient = {
  ClientID: '',
  ClientSecret: '',
  RegistrationURI: '',
  RegistrationToken: '',
  Response: '',
  Scope: '',
  RedirectURIs: [] as string[],
  GrantType: '',
  ResponseType: '',
  AuthMethod: '',
  JwksURI: '',
  TokenEndpoint: '',
  AuthorizationEndpoint: '',
};
