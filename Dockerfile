# The demo and the tests in a container. The image holds the checkout, its history (the tests ask
# git which files belong to it) and a virtual environment with everything for development.
#
#   docker build --tag hexathlon .
#   docker run --rm --volume "$PWD/site:/hexathlon/site" hexathlon          # make demo
#   docker run --rm --privileged --tmpfs /tmp:exec hexathlon make test      # sandboxes need rights
FROM python:3.13-slim-trixie

# What .ci/run would install: a browser, a database server, a compiler, git and make.
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        chromium-headless-shell docker.io gcc git libc6-dev make npm postgresql procps util-linux \
        at-spi2-core dbus fonts-dejavu-core galculator gnumeric gpicview homebank libatk-adaptor \
        mousepad mtpaint openbox pcmanfm xvfb zim \
    && rm -rf /var/lib/apt/lists/*

# Builds of torch without CUDA, gigabytes smaller; everything else comes from the default index.
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu \
    PIP_NO_CACHE_DIR=1 \
    PYTHONDONTWRITEBYTECODE=1

WORKDIR /hexathlon
COPY . .
RUN scripts/install --dev

ENV PATH=/hexathlon/.venv/bin:$PATH
CMD ["make", "demo"]
