# One image for all roles. To try it (the key is what the workbench asks for):
#   docker build -t pawl .
#   docker run --rm -p 127.0.0.1:7300:7300 -v pawl:/var/lib/pawl \
#     -e PAWL_API_KEYS="sha256:$(printf %s "$KEY" | sha256sum | cut -d ' ' -f 1)" pawl
# There is no build step and nothing is downloaded later: the sources run directly, and a container
# starts without a network.
ARG NODE=node:24.11.1-bookworm-slim

FROM ${NODE} AS packages
WORKDIR /opt/pawl
COPY package.json package-lock.json .npmrc ./
# The drivers of the servers are optional packages, so each is named here.
RUN npm ci --omit=dev --ignore-scripts \
 && npm install --no-save --omit=dev --ignore-scripts \
    bullmq@6.7.0 ioredis@5.11.1 neo4j-driver@6.3.0 pg@8.23.1

FROM ${NODE}
ENV NODE_ENV=production \
    PAWL_DATA=/var/lib/pawl \
    PAWL_HOST=0.0.0.0 \
    PAWL_PORT=7300
WORKDIR /opt/pawl
COPY --from=packages /opt/pawl/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY assets assets
COPY samples samples
COPY src src
COPY web/dist web/dist
# The code belongs to root, and Pawl is not root: it can only write its data.
RUN rm -rf /usr/local/lib/node_modules/npm /usr/local/bin/npm /usr/local/bin/npx \
 && find src -name '*.test.ts' -delete \
 && install -d -o 10001 -g 10001 -m 0750 /var/lib/pawl
USER 10001:10001
VOLUME /var/lib/pawl
EXPOSE 7300
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7300/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/pawl/bin/pawl"]
CMD ["serve", "--no-sample"]
