import { createPublicId } from '#base/ids.ts';
import type { TestApp } from './app.ts';
import type { MadeCertificate } from './certificates.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from './portal.ts';
import type { createTlsGateway } from './tls-gateway.ts';
import { waitUntilApplied } from './traffic.ts';
import type { Upstream } from './upstream.ts';

/** Products of the portal whose APIs require client certificates, and calls of them. */
export function createSecuredProducts(
  app: () => TestApp,
  upstream: () => Upstream,
  gateway: ReturnType<typeof createTlsGateway>,
) {
  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  return {
    ask,
    /** A product whose API requires a key and a client certificate. */
    async addSecured(more: object = {}) {
      const name = `api-${createPublicId()}`;
      const APIID = await addApi(app(), name, {
        proxy: { listen_path: `/${name}/`, target_url: upstream().url, strip_listen_path: true },
        use_mutual_tls_auth: true,
        ...more,
      });
      const product = await addProduct(app(), { APIDetails: [{ APIID }] });
      return { product: product.ID as number, APIID, path: `/${name}/` };
    },
    async provision(products: readonly number[], more: object, owner?: { ID: number }) {
      const plan = await addPlan(app());
      const { ID } = owner ?? (await addApp(app()));
      const body = { PlanID: plan.ID, ProductIDs: products, ProvisionImmediately: true, ...more };
      const { AccessRequestID } = await ask('PUT', `/apps/${ID}/provision`, body);
      const path = `/apps/${ID}/access-requests/${AccessRequestID}`;
      const [credential] = await ask('GET', `${path}/credentials`);
      const certificates = `${path}/credentials/${credential?.ID}/certificates`;
      return { appId: ID, requestId: AccessRequestID as number, path, credential, certificates };
    },
    /** Status of a call with a client certificate and a key. */
    async statusOf(path: string, client?: MadeCertificate, key?: string) {
      await waitUntilApplied(app());
      return gateway.call(app().url.gateway + path, client, key === undefined ? {} : { authorization: key });
    },
  };
}
