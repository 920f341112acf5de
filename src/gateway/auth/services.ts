import type { PipelineServices } from '../pipeline/services.ts';
import type { RpcCall } from '../pipeline/thread-rpc.ts';
import type { CertificateCache } from './certificate-cache.ts';
import type { JwksCache } from './jwks.ts';
import type { KeyCache } from './key-cache.ts';
import type { OauthRequest, OauthResponse } from './oauth/schema.ts';
import type { OauthTokenCache } from './oauth/token-cache.ts';

/** OAuth endpoints write to the database, so they run on the main thread. */
export interface OauthRpc {
  oauth(request: OauthRequest): Promise<OauthResponse>;
}

export interface AuthServices extends PipelineServices {
  readonly keyCache: KeyCache;
  readonly certificates: CertificateCache;
  readonly jwks: JwksCache;
  readonly oauthTokens: OauthTokenCache;
  readonly rpc: RpcCall<OauthRpc>;
}
