import { z } from 'zod';
import type { ApiFacts } from '../control-plane.ts';

/** An API of a provider, from which a product can be made. */
export const ProviderApi = z.object({
  APIID: z.string(),
  Name: z.string(),
  APIType: z.string(),
  ListenPath: z.string(),
  Status: z.boolean().describe('False for an inactive one'),
  AuthTypes: z.array(z.string()).describe('How callers are known, such as `authToken`, `jwt` or `keyless`'),
});

export const toProviderApi = (api: ApiFacts): z.output<typeof ProviderApi> => ({
  APIID: api.apiId,
  Name: api.name,
  APIType: api.kind,
  ListenPath: api.listenPath,
  Status: api.active,
  AuthTypes: [...api.authTypes],
});
