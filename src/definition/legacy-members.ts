import type { DefinitionFormat } from './facet.ts';

/**
 * Legacy members: exports of other installations contain them, and they have no effect here. They are stored, returned
 * and reported; any other undeclared member is rejected.
 */
interface LegacyPlace {
  readonly path: readonly string[];
  readonly names: readonly string[];
}

const authConfigs = ['jwt', 'basic', 'coprocess', 'hmac', 'oauth', 'oidc'];

export const legacyPlaces: Readonly<Record<DefinitionFormat, readonly LegacyPlace[]>> = {
  classic: [
    {
      path: [],
      names: [
        'check_host_against_uptime_tests',
        'driver',
        'extended_paths',
        'is_site',
        'jwt_disable_expires_at_validation',
        'jwt_disable_issued_at_validation',
        'jwt_disable_not_before_validation',
      ],
    },
    ...authConfigs.map(mode => ({
      path: ['auth_configs', mode],
      names: ['validate_signature', 'signature', 'use_certificate'],
    })),
    { path: ['proxy', 'service_discovery'], names: ['_sd_show_port_path'] },
    { path: ['proxy', 'transport'], names: ['dial_timeout'] },
  ],
  oas: [{ path: ['server'], names: ['slug'] }],
};

/** Legacy members of an event handler's settings, which stand in a list in a map: their schema names them itself. */
export const legacyHandlerMembers = ['api_model', 'org_id', 'webhook_id'];
