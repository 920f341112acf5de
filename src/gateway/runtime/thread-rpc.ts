import type { ApiStats, ApiStatus, ThreadStatus, UnavailableApi } from '#apis/api/data-plane.ts';
import type { CertificateReport, KeySetReport } from '#apis/system/node-store.ts';
import type { DebugRun, DebugTask } from '../inspect/debug/schema.ts';
import type { PluginTestReply, PluginTestTask } from '../inspect/plugin-test/schema.ts';

/** RPC interface of a traffic thread. */
export interface TrafficThreadRpc {
  /** Trace of an explained request; empty when unknown on this thread. */
  explanation(given: { readonly id: string }): Promise<string>;
  debug(given: DebugTask): Promise<DebugRun>;
  testPlugin(given: PluginTestTask): Promise<PluginTestReply>;
  status(given: { readonly apiId: string }): Promise<ApiStatus>;
  threadStatus(given: Record<string, never>): Promise<ThreadStatus>;
  listUnavailable(given: { readonly orgId: string }): Promise<UnavailableApi[]>;
  stats(given: { readonly apiId: string }): Promise<ApiStats>;
  /** Invalidates the JWKS of an API, or all. */
  invalidateJwks(given: { readonly apiId?: string | undefined }): Promise<void>;
  /** Key sets that this thread has used. */
  listKeySets(given: Record<string, never>): Promise<KeySetReport[]>;
  /** Certificates that this thread uses, or could not load. */
  listCertificates(given: Record<string, never>): Promise<CertificateReport[]>;
  purgeResponseCache(given: { readonly apiId: string }): Promise<void>;
}
