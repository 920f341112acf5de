import type { SurfaceName } from './operation.ts';

/** What differs between the surfaces: where they live, how they are entered, how they say no. */
export interface Surface {
  readonly title: string;
  readonly about: string;
  readonly prefix: string;
  readonly credentialHeader: string;
  /** Takes the credential out of the header's text. */
  credential(header: string): string;
  /** Status of a missing or wrong credential. */
  readonly refusedStatus: number;
  readonly refusedMessage?: string;
  /** Status of a body or parameter that does not pass its check. */
  readonly invalidStatus: number;
  readonly contentType: string;
  render(message: string, faults?: readonly string[]): object;
}

const bare = (header: string) => header;
const bearer = (header: string) => header.replace(/^bearer +/i, '');
const status = (message: string) => ({ Status: 'Error', Message: message, Meta: null });

export const surfaces: Readonly<Record<SurfaceName, Surface>> = {
  gateway: {
    title: 'Gateway control API',
    about: 'What a script does to a gateway.',
    prefix: '/gw',
    credentialHeader: 'x-gw-authorization',
    credential: bare,
    refusedStatus: 403,
    refusedMessage: 'Attempted administrative access with invalid or missing key!',
    invalidStatus: 400,
    contentType: 'application/json',
    render: message => ({ status: 'error', message }),
  },
  dashboard: {
    title: 'Dashboard API',
    about: 'What a person of one organisation does.',
    prefix: '/api',
    credentialHeader: 'authorization',
    credential: bearer,
    refusedStatus: 401,
    invalidStatus: 400,
    contentType: 'application/json',
    render: status,
  },
  admin: {
    title: 'Admin API',
    about: 'What the operator of the installation does.',
    prefix: '/admin',
    credentialHeader: 'admin-auth',
    credential: bare,
    refusedStatus: 401,
    invalidStatus: 400,
    contentType: 'application/json',
    render: status,
  },
  portal: {
    title: 'Developer portal API',
    about: 'What an administrator of the developer portal does.',
    prefix: '/portal-api',
    credentialHeader: 'authorization',
    credential: bearer,
    refusedStatus: 401,
    invalidStatus: 422,
    contentType: 'application/json',
    render: (message, faults) => ({ status: 'error', errors: faults ?? [message] }),
  },
};
