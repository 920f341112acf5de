#!/bin/sh
# Generates the secrets of a new installation, each of 32 random bytes. Files that exist are kept.
#
#   deploy/generate-secrets.sh compose       deploy/secrets/: gw.yaml, redis.conf, postgres_password, for compose.yaml
#   deploy/generate-secrets.sh kubernetes    deploy/kubernetes/secrets/: one file for each Secret of its kustomization.yaml
set -eu
umask 077
here=$(cd "$(dirname "$0")" && pwd)
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

write() { # FILE; content on standard input
  if [ -e "$1" ]; then
    cat > /dev/null
    echo "kept    $1"
  else
    cat > "$1.new"
    mv "$1.new" "$1"
    echo "written $1"
  fi
}

case "${1:-}" in
  compose)
    directory=$here/secrets
    mkdir -p "$directory"
    if [ -e "$directory/gw.yaml" ]; then
      echo "kept    $directory"
      exit 0
    fi
    database=$(random) redis=$(random) master=$(random)
    printf '%s' "$database" | write "$directory/postgres_password"
    printf 'requirepass %s\nappendonly no\nsave ""\nmaxmemory-policy noeviction\n' "$redis" | write "$directory/redis.conf"
    # Last: its existence is the mark of a complete set.
    write "$directory/gw.yaml" << YAML
production: true
master_key: "$master"
database: { url: "postgres://gw:$database@postgres/gw" }
redis: { url: "redis://default:$redis@redis:6379" }
YAML
    # Compose mounts each file with its mode, for the users of the containers; the directory is closed to others.
    chmod 0644 "$directory/postgres_password" "$directory/redis.conf" "$directory/gw.yaml"
    ;;
  kubernetes)
    directory=$here/kubernetes/secrets
    mkdir -p "$directory"
    # The single file of earlier releases: its values are kept.
    old=$here/kubernetes/secrets.env
    value() { # NAME DEFAULT
      if [ -e "$old" ]; then sed -n "s/^$1=//p" "$old"; else printf '%s' "$2"; fi
    }
    write "$directory/common.env" << ENV
GW_MASTER_KEY=$(value GW_MASTER_KEY "$(random)")
GW_DATABASE_URL=$(value GW_DATABASE_URL "${GW_DATABASE_URL:-postgres://gw:PASSWORD@HOST/gw}")
GW_REDIS_URL=$(value GW_REDIS_URL "${GW_REDIS_URL:-redis://default:PASSWORD@HOST:6379}")
ENV
    write "$directory/gateway.env" << ENV
GW_GATEWAY_SECRET=$(value GW_GATEWAY_SECRET "$(random)")
ENV
    write "$directory/dashboard.env" << ENV
GW_ADMIN_SECRET=$(value GW_ADMIN_SECRET "$(random)")
GW_BOOTSTRAP_PASSWORD=$(value GW_BOOTSTRAP_PASSWORD "$(random)")
GW_BOOTSTRAP_ACCESS_KEY=$(value GW_BOOTSTRAP_ACCESS_KEY "$(random)")
ENV
    write "$directory/portal.env" << ENV
GW_PORTAL_TOKEN=$(value GW_PORTAL_TOKEN "$(random)")
ENV
    ;;
  *)
    echo "usage: $0 compose|kubernetes" >&2
    exit 2
    ;;
esac
