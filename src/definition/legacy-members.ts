import type { DefinitionFormat } from './facet.ts';

/**
 * Legacy members: exports of other installations carry them, and they mean nothing here. They are kept, returned and
 * reported; any other member that is not declared is refused.
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

/** Of the settings of one event handler, a value inside a list inside a map: its schema names them itself. */
export const legacyHandlerMembers = ['api_model', 'org_id', 'webhook_id'];
