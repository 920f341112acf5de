import { z } from 'zod';

/** Schemas of the members that the files in `deploy/` and `compose.yaml` use: any other member is refused. */

const labels = z.record(z.string(), z.string());
const metadata = z.strictObject({ name: z.string().regex(/^[a-z0-9-]+$/), labels: labels.optional() });
const selector = z.strictObject({ matchLabels: labels });
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/);
const quantities = z.strictObject({ cpu: quantity.optional(), memory: quantity });
const seconds = z.int().min(1);

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.enum(['/live', '/ready']), port: z.string() }),
  periodSeconds: seconds,
  timeoutSeconds: seconds.optional(),
  failureThreshold: z.int().min(1),
});

const container = z.strictObject({
  name: z.string(),
  image: z.literal('gatewright'),
  args: z.tuple([z.literal('start'), z.literal('--role'), z.enum(['gateway', 'dashboard', 'portal'])]),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })).length(1),
  envFrom: z.array(
    z.union([
      z.strictObject({ configMapRef: z.strictObject({ name: z.literal('gatewright') }) }),
      z.strictObject({ secretRef: z.strictObject({ name: z.string().regex(/^gatewright(-[a-z]+)?$/) }) }),
    ]),
  ),
  env: z.array(z.strictObject({ name: z.string().startsWith('GW_'), value: z.string() })).default([]),
  startupProbe: probe,
  readinessProbe: probe,
  livenessProbe: probe,
  resources: z.strictObject({ requests: quantities, limits: quantities }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string().startsWith('/') })),
});

const podSpec = z.strictObject({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: seconds,
  securityContext: z.strictObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.int().min(1),
    runAsGroup: z.int().min(1),
    fsGroup: z.int().min(1),
    seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z.array(
    z.strictObject({
      maxSkew: z.int().min(1),
      topologyKey: z.string(),
      whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
      labelSelector: selector,
    }),
  ),
  containers: z.array(container).length(1),
  volumes: z.array(z.strictObject({ name: z.string(), emptyDir: z.strictObject({}) })),
});

export const Deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata,
  spec: z.strictObject({
    replicas: z.int().min(1),
    selector,
    strategy: z.strictObject({
      type: z.literal('RollingUpdate'),
      rollingUpdate: z.strictObject({ maxUnavailable: z.int(), maxSurge: z.int() }),
    }),
    template: z.strictObject({ metadata: z.strictObject({ labels }), spec: podSpec }),
  }),
});

export const Service = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Service'),
  metadata,
  spec: z.strictObject({
    type: z.literal('ClusterIP'),
    selector: labels,
    ports: z.array(z.strictObject({ name: z.string(), port: z.int(), targetPort: z.string() })).length(1),
  }),
});

export const PodDisruptionBudget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata,
  spec: z.strictObject({ minAvailable: z.int().min(1), selector }),
});

/** Ingress alone: upstreams of APIs may be anywhere. */
export const NetworkPolicy = z.strictObject({
  apiVersion: z.literal('networking.k8s.io/v1'),
  kind: z.literal('NetworkPolicy'),
  metadata,
  spec: z.strictObject({
    podSelector: selector,
    policyTypes: z.tuple([z.literal('Ingress')]),
    ingress: z
      .array(
        z.strictObject({
          from: z
            .array(
              z.strictObject({
                namespaceSelector: z.strictObject({}),
                podSelector: z.strictObject({
                  matchExpressions: z.array(
                    z.strictObject({ key: z.string(), operator: z.literal('NotIn'), values: z.array(z.string()) }),
                  ),
                }),
              }),
            )
            .optional(),
          ports: z.array(z.strictObject({ protocol: z.literal('TCP'), port: z.string() })).length(1),
        }),
      )
      .length(1),
  }),
});

export const ConfigMap = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('ConfigMap'),
  metadata,
  data: z.record(z.string(), z.string()),
});

export const Secret = z.strictObject({
  apiVersion: z.literal('v1'),
  kind: z.literal('Secret'),
  metadata,
  type: z.literal('Opaque'),
  // A template: the repository holds no value.
  stringData: z.record(z.string(), z.literal('')),
});

export const Namespace = z.strictObject({ apiVersion: z.literal('v1'), kind: z.literal('Namespace'), metadata });

export const Kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string(),
  resources: z.array(z.string()),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
  secretGenerator: z.array(z.strictObject({ name: z.string(), envs: z.array(z.string()) })),
});

export const Manifest = z.discriminatedUnion('kind', [
  Deployment,
  Service,
  PodDisruptionBudget,
  NetworkPolicy,
  ConfigMap,
  Secret,
  Namespace,
]);

const composeService = z.strictObject({
  build: z.string().optional(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  ports: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  secrets: z.array(z.string()),
  networks: z.array(z.string()),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.int() })
    .optional(),
  read_only: z.literal(true).optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.tuple([z.literal('ALL')]).optional(),
  security_opt: z.tuple([z.literal('no-new-privileges:true')]).optional(),
  restart: z.literal('unless-stopped'),
  stop_grace_period: z.string().optional(),
});

export const Compose = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), composeService),
  networks: z.record(z.string(), z.strictObject({ internal: z.literal(true) })),
  volumes: z.record(z.string(), z.strictObject({})),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
});
