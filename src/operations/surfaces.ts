export type SurfaceName = 'gateway' | 'dashboard' | 'admin' | 'portal';

/** Differences between the surfaces: prefix, credential, error format. */
export interface Surface {
  readonly title: string;
  readonly about: string;
  readonly prefix: string;
  readonly credentialHeader: string;
  /** Cookie of browser sessions. */
  readonly sessionCookie?: string;
  /** Extracts the credential from the header value. */
  extractCredential(header: string): string;
  /** Status of a missing or wrong credential. */
  readonly unauthorizedStatus: number;
  readonly unauthorizedMessage?: string;
  /** Status of an invalid body or parameter. */
  readonly invalidStatus: number;
  readonly contentType: string;
  render(message: string, faults?: readonly string[]): object;
}

const takeWhole = (header: string) => header;
const stripBearer = (header: string) => header.replace(/^bearer +/i, '');
const toErrorStatus = (message: string) => ({ Status: 'Error', Message: message, Meta: null });

export const surfaces: Readonly<Record<SurfaceName, Surface>> = {
  gateway: {
    title: 'Gateway control API',
    about: 'Operations of scripts on a gateway.',
    prefix: '/gw',
    credentialHeader: 'x-gw-authorization',
    extractCredential: takeWhole,
    unauthorizedStatus: 403,
    unauthorizedMessage: 'Attempted administrative access with invalid or missing key!',
    invalidStatus: 400,
    contentType: 'application/json',
    render: message => ({ status: 'error', message }),
  },
  dashboard: {
    title: 'Dashboard API',
    about: 'Operations of users of one organisation.',
    prefix: '/api',
    credentialHeader: 'authorization',
    sessionCookie: 'authorisation',
    extractCredential: stripBearer,
    unauthorizedStatus: 401,
    invalidStatus: 400,
    contentType: 'application/json',
    render: toErrorStatus,
  },
  admin: {
    title: 'Admin API',
    about: 'Operations of the operator of the installation.',
    prefix: '/admin',
    credentialHeader: 'admin-auth',
    extractCredential: takeWhole,
    unauthorizedStatus: 401,
    invalidStatus: 400,
    contentType: 'application/json',
    render: toErrorStatus,
  },
  portal: {
    title: 'Developer portal API',
    about: 'Operations of administrators of the developer portal.',
    prefix: '/portal-api',
    credentialHeader: 'authorization',
    sessionCookie: 'portal-session',
    extractCredential: stripBearer,
    unauthorizedStatus: 401,
    invalidStatus: 422,
    contentType: 'application/json',
    render: (message, faults) => ({ status: 'error', errors: faults ?? [message] }),
  },
};
