# The build stage installs the packages with npm; its own Node is not copied: the one Gatewright runs on is a package.
FROM node:24-bookworm-slim AS build
# Needed by the Node of the package.
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/gatewright
COPY package.json package-lock.json tsconfig.json LICENSE ./
COPY bin bin
COPY tools tools
COPY src src
COPY docs docs
RUN npm ci --omit=dev --no-audit --no-fund
# The compile cache is one directory per user id: filled again for that of the final stage, so that starts are quick.
RUN chown -R 10001:10001 node_modules/.cache
RUN setpriv --reuid=10001 --regid=10001 --keep-groups node_modules/.bin/node --no-allocation-site-pretenuring --expose-gc tools/warm.ts
RUN chown -R 0:0 node_modules/.cache && chmod -R go=rX .

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
RUN install -d -o 10001 -g 10001 -m 0700 /data
COPY --from=build /opt/gatewright /opt/gatewright
# The listeners are reachable through published ports only; inside the container loopback would hide them.
ENV GW_DATA_DIR=/data GW_DASHBOARD_HOST=0.0.0.0 GW_PORTAL_HOST=0.0.0.0
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8080 3000 3001 8081
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["/opt/gatewright/node_modules/.bin/node", "/opt/gatewright/tools/health-check.ts"]
ENTRYPOINT ["/opt/gatewright/bin/gw"]
CMD ["start"]
