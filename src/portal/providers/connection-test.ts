import { z } from 'zod';
import type { OutboundClient } from '#base/http-client/client.ts';
import { Problem } from '#base/problems.ts';
import { planeChecks } from '../control-plane.ts';
import { noResponse } from '../no-response.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredProvider } from './schema.ts';

export interface PlaneTestServices extends Pick<PortalServices, 'portal' | 'controlPlane'> {
  readonly outbound: OutboundClient;
}

const gatewayTimeoutMs = 10_000;
const maxGatewayBytes = 65_536;

export const ConnectionCheck = z.object({
  Check: z.enum([...planeChecks, 'gateway']),
  Result: z.enum(['passed', 'failed', 'skipped']),
  Reason: z.string().describe('Why it failed; empty otherwise'),
});
type ConnectionCheck = z.output<typeof ConnectionCheck>;

const toCheck = (Check: ConnectionCheck['Check'], fault: string | undefined): ConnectionCheck => ({
  Check,
  Result: fault === undefined ? 'skipped' : fault === '' ? 'passed' : 'failed',
  Reason: fault ?? '',
});

/** Tests the connection with a provider and the base address of its gateway; nothing is stored. */
export async function checkConnection(provider: StoredProvider, services: PlaneTestServices) {
  const [faults, gateway] = await Promise.all([
    services.controlPlane(provider).check(),
    checkGateway(provider.MetaData, services.outbound),
  ]);
  return [...planeChecks.map(name => toCheck(name, faults[name])), toCheck('gateway', gateway)];
}

/** Any HTTP response passes. */
async function checkGateway(
  { Gateway: url, InsecureSkipVerify: insecure }: StoredProvider['MetaData'],
  outbound: OutboundClient,
): Promise<string | undefined> {
  if (url === '') return undefined;
  try {
    await outbound.fetch({
      ...{ url, audience: 'operator', timeoutMs: gatewayTimeoutMs, maxBytes: maxGatewayBytes },
      ...(insecure && { tls: { insecure } }),
    });
    return '';
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return noResponse;
  }
}
