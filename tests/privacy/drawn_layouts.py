"""The layouts, names and tokens of drawn_kinds.py, by half. For their letters see there."""

SERVICES = {
    "tuned": ("datadog", "algolia", "mailchimp", "cloudflare", "sendgrid", "snyk", "airtable", "asana", "bitbucket", "circleci", "codecov", "contentful",
              "deepgram", "discord", "dropbox", "fastly", "finnhub", "grafana", "heroku", "hubspot", "intercom", "launchdarkly", "linode", "mapbox"),
    "sealed": ("netlify", "newrelic", "okta", "opsgenie", "pagerduty", "plaid", "posthog", "postman", "pusher", "rollbar", "sentry", "shodan", "sonarqube",
               "splunk", "stripe", "supabase", "tailscale", "todoist", "trello", "twilio", "typeform", "vercel", "vultr", "zendesk"),
}
# Of services that nobody has listed.
UNKNOWN = {
    "tuned": ("acmely", "zorvex", "quillbee", "nimbara", "fotondesk", "parcelio", "brindle", "tavrik", "oxymeter", "pluvian", "hexaroo", "dunmore"),
    "sealed": ("wexford", "larkspan", "mirotto", "quanterra", "snowpeg", "velikor", "ostrava", "bluetarn", "fennick", "gramline", "kestrio", "umbrexa"),
}

# What an API key is called elsewhere.
SPOKEN_KEYS = {
    "tuned": ("clé d'API :", "clave de API:", "API-Schlüssel:", "ключ API:", "API密钥：", "API キー:", "chave de API:", "chiave API:", "API-sleutel:", "klucz API:",
              "API-nyckel:", "API anahtarı:", "API 키:", "klíč API:"),
    "sealed": ("clé API :", "clave API =", "Der API-Schlüssel lautet", "API-ключ:", "API 密钥是", "APIキーは", "chave da API:", "la chiave API è", "API sleutel:",
               "klucz do API:", "API-nøgle:", "API anahtarım:", "API 키는", "API-avain:"),
}

# The forms of tokens: <w36> are 36 letters and digits; see ALPHABETS in drawn_kinds.py.
TOKENS = {
    "tuned": (
        "ghp_<w36>", "glpat-<_20>", "xoxb-<912>-<912>-<w24>", "AKIA<B16>", "sk_live_<w24>", "AIza<_35>", "SG.<_22>.<_43>", "npm_<w36>", "hf_<w34>", "dop_v1_<h64>",
        "SU<B56>", "SA<B56>", "cosmo_<h32>", "dnkey-<n26>-<n52>", "llx-<w48>", "<h36>NRAL", "sq0idp-<_22>", "sandbox-sq0idb-<_22>", "VF.DM.<h24>.<w16>",
        "ffio-u-<w24>", "shpss_<w32>", "xoxp-1-<w40>", "key-<h32>", "<h32>-<h8>-<h8>", "lin_api_<w40>", "sntrys_eyJ<w90>_<b43>", "pul-<h40>", "dp.pt.<w43>", "rubygems_<h48>",
        "figd_<_40>", "phc_<w43>", "NRAK-<N27>", "EAAA<_60>", "shpat_<h32>", "PMAK-<h24>-<h34>", "glsa_<w32>_<h8>", "gsk_<w52>", "r8_<w37>", "pplx-<w48>",
        "tvly-<w32>", "fc-<h32>", "nvapi-<_64>", "xai-<w80>", "vcp_<w56>", "sbp_<h40>", "CFPAT-<_43>", "<w14>.atlasv1.<_60>", "ops_eyJ<w300>"),
    "sealed": (
        "gho_<w36>", "github_pat_<w22>_<w59>", "xapp-1-<N11>-<913>-<h64>", "ASIA<B16>", "rk_live_<w24>", "GOCSPX-<_28>", "xkeysib-<h64>-<w16>", "pypi-AgEIcHlwaS5vcmc<_150>",
        "lsv2_pt_<h32>_<h10>", "doo_v1_<h64>", "SO<B56>", "SC<B56>", "AGE-SECRET-KEY-1<G58>", "tskey-auth-<w16>-<w32>", "pscale_pw_<_43>", "NRII-<_32>", "sq0csp-<_43>", "sq0atp-<_22>",
        "VF.WS.<h24>.<w16>", "FLWSECK-<h32>-X", "shpca_<h32>", "xoxe-1-<w120>", "pubkey-<h32>", "lin_oauth_<h64>", "sntryu_<h64>", "dp.st.dev.<w43>", "figo_<_40>",
        "glrt-<_20>", "NRJS-<h19>", "shppa_<h32>", "dapi<h32>", "glc_eyJ<w80>", "sk-ant-api03-<_93>AA", "sk-or-v1-<h64>", "hvs.<_95>", "phx_<w43>",
        "rdme_<n70>", "pnu_<w36>", "EZAK<w54>", "mlsn.<h64>", "sbp_<h40>", "CCIPAT_<w22>_<h40>", "ntn_<w46>", "secret_<w43>", "dckr_pat_<_27>", "ATATT3<_183>=<H8>"),
}

# (class, family, draws of each, layouts)
LAYOUTS = {
    "tuned": (
        ("usual", "assigned", 2, (
            '{i}Token="{s}"', '{i}Token = "{s}"', "{i}Token={s}", "{i}_token: {s}", "{i}_token: '{s}'", '{\n    "{i}_token": "{s}"\n}', "<{i}Token>{s}</{i}Token>",
            "<{i}Token>\n    {s}\n</{i}Token>", "{i}_token: |\n  {s}", 'string {i}Token = "{s}";', 'var {i}Token string = "{s}"', "{i}Token := `{s}`", '${i}Token .= "{s}"',
            "{i}Token,{s},", '  "{i}Token" => "{s}"', '{I}_TOKEN ::= "{s}"', '{I}_TOKEN ?= "{s}"', "export {I}_API_KEY={s}", '{i}.api_key = "{s}"', "{I}_SECRET: '{s}'",
            "--{i}-token {s}", "--{i}-api-key={s}", 'os.environ["{I}_API_KEY"] = "{s}"', '{i}_secret_key="{s}"', "{i} api key: {s}", 'const {i}Key = "{s}";')),
        ("usual", "named", 4, (
            'apikey := "{s}"', "apikey: {s}", 'api_key="{s}"', "'theapikey': '{s}'", "client_secret = {s}", 'apikey "{s}";', "private_key '{s}';", 'some_dict["secret"] = "{s}"',
            'theapikey = @"{s}"', "access_token={s}&x=1", '{"auth_token": "{s}"}', "The token is {s}.", "TOKEN={s} ./run.sh", 'secret_access_key = "{s}"')),
        ("usual", "password", 4, (
            'password = "{p}"', "my_password: '{p}'", "PASSWORD={p}", '"password": "{p}",', 'my_password := "{p}"', 'password   =>   "{p}"', "the_password= '{p}'",
            "db password is {p}", 'user = "{u}"\npassword = "{p}"', "user = {u}\npassword = {p}", '<add key="AdminPassword" value="{p}"/>', "<password>{p}</password>",
            "mysql -u{u} -p{p} db", "curl -u {u}:{p} https://x.io", "postgres://{u}:{p}@db/x", "spring.datasource.password={p}",
            "the password for user '{u}' is '{p}'", 'new NetworkCredential("{u}", "{p}")')),
        ("usual", "table", 8, (
            "| password | {p} |", "apiKey |{s}", "| api_key | {s} |", "| user | {u} |\n| password | {p} |", "token | {s}", "|password|{p}|")),
        ("usual", "misspelled", 5, ("PSSWD={p}", "PSWRD:={p}", "passwrd: {p}", 'psswrd = "{p}"')),
        ("rare", "near a service", 3, (
            "{i} token - '{s}'", "{i} '{s}'", "use key {s} for {i}", "[INFO] Sending request to the {i} API\n[DEBUG] Using {i} KEY={s}\n[INFO] Response received: 200 OK",
            "[DEBUG] Using Key={s} for {i}", '{i}_key: "{s}"', 'get{C}("{s}")', '{i}Template := "{s}"', "{i} {s}", "# {i}\n{s}", "{i} credentials are {s}",
            "<id>{{i}}</id>\n<secret>{{i} AQAAABAAA {s}}</secret>", "{i}: '{s}'", "({i}) {s}", '{i}.Client("{s}")', "key for {i} -> {s}")),
        ("rare", "unknown service", 3, (
            "{i} token - '{s}'", "{i} token '{s}'", "use key {s} for {i}", "[DEBUG] Using {i} KEY={s}", '{i}_key: "{s}"', "{i}_token = {s}", 'const {i}Secret = "{s}"',
            "{I}_APIKEY={s}", "<secret>{{i} AQAAABAAA {s}}</secret>", "the {i} api key is {s}", '{"{i}": {"key": "{s}"}}', "{i} key {s}", 'new {C}("{s}")', '{C}.setApiKey("{s}")')),
        ("rare", "UUID", 5, ("{i} token = '{g}'", "{i}_key: {g}", "{i} key {g}", "[DEBUG] Using {i} KEY={g}", '{i} = "{g}"')),
        ("rare", "call", 4, (
            'set_password("{u}", "{p}")', "define( 'PASSWORD' , '{p}' )", "define('DB_PASSWORD', '{p}');", "PASSWORD({s})", 'CURLOPT_PASSWORD, "{p}"', 'CURLOPT_USERPWD, "{u}:{p}"',
            '--oauth2-bearer "{s}"', 'creds.Secret != "{s}"', "%define token {s}", 'if (password == "{p}")', "buildConfigField 'String' , 'API_KEY' , '\"{s}\"'",
            'login("{u}", "{p}")', 'client.auth("{s}")', 'DirectoryEntry("LDAP://x.io", "{u}", "{p}")', 'token="""{s}"""', 'password = """{p}"""')),
        ("rare", "lines", 5, (
            "curl https://x.io \\\n  -u {u}:{p} \\\n  -X POST", "docker login x.io \\\n  -u {u} \\\n  -p {p}", 'api_key = """\n{s}\n"""', "password:\n  {p}", "<secret>\n  {s}\n</secret>",
            "API key:\n{s}")),
        ("rare", "said", 8, (
            "login: {u} / {p}", "user {u}, pw {p}", "Wifi: Home / {p}", "credentials: {u}/{p}", "recovery codes: {t}", "pw={p} for {u}", "the pw is {p}", "Ldap password   ----   {p}",
            "user: {u} pass: {p}", "pass: {p}")),
    ),
    "sealed": (
        ("usual", "assigned", 2, (
            '{i}_api_token = "{s}"', '{i}ApiKey: "{s}",', "{I}_API_KEY={s}", "{i}-token: {s}", "{i}.token='{s}'", '[{\n  "{i}ApiKey": "{s}"\n}]', '<entry name="{i}Token" value="{s}" />',
            "<{i}:token>{s}</{i}:token>", "{i}_secret: >\n  {s}", 'String {i}Secret = "{s}";', 'let {i}_token: &str = "{s}";', "{I}_KEY=`{s}`", "${i}_token ??= '{s}';",
            "{i}_key;{s};", ':{i}_token => "{s}"', '{I}_TOKEN :::= "{s}"', '{I}_SECRET += "{s}"', "set {I}_TOKEN={s}", "ENV {I}_TOKEN {s}", '"{I}_API_TOKEN":"{s}"',
            "--{i}-secret={s}", '{i}_credentials: {"token": "{s}"}', 'process.env.{I}_TOKEN = "{s}"', 'setenv("{I}_KEY", "{s}")', "{C} token: {s}", 'private static String {I}_SECRET = "{s}";')),
        ("usual", "named", 4, (
            'my_api_key = "{s}"', "api-key: {s}", "APIKEY='{s}'", '"apiKey" : "{s}"', 'client-secret: "{s}"', "fooapikeyfoo '{s}';", "X-Api-Key: {s}", "settings['secret'] = '{s}'",
            "accessToken: '{s}',", "https://x.io/?api_key={s}", "{'refresh_token': '{s}'}", "My API key is {s}", "SECRET_KEY={s} make", 'aws_secret_access_key={s}')),
        ("usual", "password", 4, (
            'passwd = "{p}"', "db_password: {p}", "export DB_PASS='{p}'", "'password': '{p}'", 'userPassword="{p}"', "password -> '{p}'", "rootPassword= {p}",
            "Its password is {p}", "username: {u}\npassword: {p}", "USER={u}\nPASS={p}", '<property name="password" value="{p}"/>', "<Password>{p}</Password>",
            "mysql --user={u} --password={p}", "wget --password={p} x.io", "redis://{u}:{p}@cache:6379", "ansible_password: {p}",
            "Use the password '{p}' to log in", "IDENTIFIED BY '{p}'")),
        ("usual", "table", 8, (
            "|  Password  |  {p}  |", "secret |{s}", "| token | `{s}` |", "| name | {u} |\n| secret | {s} |", "api_key\t|\t{s}", "| Passwort | {p} |")),
        ("usual", "misspelled", 5, ("PASWORD={p}", "pasword: {p}", "passord = '{p}'", 'PASSWROD="{p}"')),
        ("rare", "near a service", 3, (
            "{i} key - {s}", '{i} "{s}"', "with {s} as the {i} key", "[INFO] calling {i}\n[DEBUG] token={s}", "[TRACE] {i} auth {s}", "{i}_api: '{s}'", 'connect{C}("{s}")', '{i}Config := "{s}"',
            "{C}: {s}", "// {i}\n{s}", "our {i} secret would be {s}", "<secret>{{i} {s}}</secret>", "{i} => {s}", "[{i}] {s}", 'new {C}Client({ key: "{s}" })', "{i} <- {s}")),
        ("rare", "unknown service", 3, (
            "{i} secret - {s}", '{i} key "{s}"', "with token {s} from {i}", "[TRACE] {i} TOKEN={s}", "{i}-key: {s}", "{i}ApiToken={s}", 'static {I}_KEY: &str = "{s}"',
            "{i}.apikey={s}", "<secret>{{i} {s}}</secret>", "{i} token: {s}", '{"{i}": {"token": "{s}"}}', "{i} secret {s}", '{C}Client("{s}")', '{i}.auth("{s}")')),
        ("rare", "UUID", 5, ("{i} key = \"{g}\"", "{i}_token={g}", "{i} token {g}", "[TRACE] {i} TOKEN={g}", "{i}: '{g}'")),
        ("rare", "call", 4, (
            'setCredentials("{u}", "{p}")', "define( \"AUTH_KEY\", '{s}' );", "define('FTP_PASS', '{p}');", "SECRET({s})", 'CURLOPT_PASSWORD => "{p}"', "CURLOPT_USERPWD => '{u}:{p}'",
            "--oauth2-bearer {s}", 'if token != "{s}" {', "#define API_KEY {s}", "if password == '{p}':", "resValue 'string', 'api_key', '{s}'",
            "signIn('{u}', '{p}')", 'withToken("{s}")', 'PDO("mysql:host=x", "{u}", "{p}")', "secret = '''{s}'''", "passwd='''{p}'''")),
        ("rare", "lines", 5, (
            "curl -X POST \\\n  --user {u}:{p} \\\n  https://x.io", "mysql -h x.io \\\n  -u{u} \\\n  -p{p}", "token = '''\n{s}\n'''", "passphrase:\n    {p}", "<password>\n{p}\n</password>",
            "Your token:\n\n{s}")),
        ("rare", "said", 8, (
            "user/pass: {u} / {p}", "log in as {u} with {p}", "WLAN: Cafe / {p}", "creds {u}:{p}", "backup code: {t}", "{u}'s pw: {p}", "pw is {p}", "Password   ....   {p}",
            "login={u} pwd={p}", "pw: {p}")),
    ),
}

# What stays as it is.
LOOK_ALIKES = {
    "tuned": (
        "commit {h}", "rookTable = {s}", "sumOfExposures = {s}", "task_test_{s}", "sha256:{s}", "the id of the trace is {g}", "index 3f2a1bc..9d8e7f6 100644", "request id {g}",
        "integrity sha512-{s}", "token count 1842 of 4096", "max_tokens: 4096", "password_hash_algorithm: argon2id", "the {i} key is in the vault", "{i}_key: ${{I}_KEY}",
        "see https://{i}.com/docs/api-keys/how-to-rotate-keys", "public key id {g}", "foreign_key: customer_address_identifier", "the password is too short", "api_key = get_secret('{i}')",
        "login: required / optional", "user guide, pw reset", "{i} dashboard-overview-2024-12-31-final", "use key ArrowDownLeft for navigation", "Etag {s}", "<secret>see vault</secret>",
        "password: string;", "| password | text | yes |", "| token | the token of the session |", "x-request-id: {g}", "build 20240131.4 of {i}"),
    "sealed": (
        "tree {h}", "presentryModes = {s}", "backstripeRow = {s}", "unit_test_{s}", "md5 = {s}", "span {g}", "diff 91ab2c3..7de4f5a", "correlation: {g}",
        "checksum {s}", "tokens: 8192 in, 512 out", "token_limit = 128000", "password_policy: at-least-12-characters", "ask ann for the {i} token", "{i}_token: {{ vault_token }}",
        "read https://{i}.io/reference/authentication#bearer-tokens", "device {g}", "primary_key: order_line_number_sequence", "the secret is out", "token = session.get_token('{i}')",
        "credentials: none / basic / digest", "password or pw for short", "{i} release-notes-for-the-third-quarter", "press key ShiftLeftControl to go on", "W/\"{s}\"", "<password>redacted</password>",
        "token?: string | undefined;", "| secret | bytea | no |", "| api_key | name of the key |", "traceparent: 00-{h}-{h}-01", "version 12.4.0-rc.1+{i}"),
}
